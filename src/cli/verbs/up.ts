import { spawn } from 'node:child_process';
import type { DaemonStatus } from '../../ipc/fleet.js';
import { findDaemon, openFleet } from '../connection.js';
import { EXIT } from '../exit-codes.js';
import { daemonArguments, daemonEnvironment } from '../start-daemon.js';
import { startOrFind } from '../start-or-find.js';
import { untilEnded } from '../until-ended.js';
import type { Call, Verb } from '../verb.js';

export const verb: Verb = {
  usage: 'up [--foreground] [--replace]',
  about: 'Starts the daemon in the background, and returns when its socket serves.',
  help: `Examples:
  toolherd up
  toolherd up --foreground        stays, and prints the log; for service managers
  toolherd up --replace           stops the one that runs first`,
  options: { foreground: { type: 'boolean' }, replace: { type: 'boolean' } },
  most: 0,
  async run(call) {
    const { flags, output } = call;
    const running = await findDaemon(call);
    if (running !== undefined && flags.replace !== true) return alreadyRunning(call, running);
    if (running !== undefined) {
      const { fleet, close } = await openFleet(call, false, 'herd');
      await fleet.shutdown();
      close();
      await untilEnded(call, running.pid);
    }
    if (flags.foreground === true) return foreground(call);
    const outcome = await startOrFind(call);
    if ('found' in outcome) return alreadyRunning(call, outcome.found);
    const { pid, servers } = outcome.started;
    output.json({ already_running: false, pid, servers });
    output.print(`running (pid ${pid}), ${servers} ${servers === 1 ? 'server' : 'servers'} configured`);
    return EXIT.ok;
  },
};

function alreadyRunning({ output }: Call, daemon: DaemonStatus): number {
  output.json({ already_running: true, daemon });
  output.print(`already running (pid ${daemon.pid})`);
  return EXIT.ok;
}

/** The daemon takes over this terminal; signals reach it, and its status is ours. */
function foreground(call: Call): Promise<number> {
  const child = spawn(process.execPath, [...daemonArguments(call), '--foreground'], {
    stdio: 'inherit',
    cwd: call.cwd,
    env: daemonEnvironment(call),
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? EXIT.failed)));
}
