import { spawn } from 'node:child_process';
import { openFleet } from '../connection.js';
import { EXIT } from '../exit-codes.js';
import { daemonArguments, startDaemon } from '../start-daemon.js';
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
    const running = await runningDaemon(call);
    if (running !== undefined && flags.replace !== true) {
      output.json({ already_running: true, daemon: running });
      output.print(`already running (pid ${running.pid})`);
      return EXIT.ok;
    }
    if (running !== undefined) {
      const { fleet, close } = await openFleet(call, false);
      await fleet.shutdown();
      close();
    }
    if (flags.foreground === true) return foreground(call);
    const { pid, servers } = await startDaemon(call);
    output.json({ already_running: false, pid, servers });
    output.print(`running (pid ${pid}), ${servers} ${servers === 1 ? 'server' : 'servers'} configured`);
    return EXIT.ok;
  },
};

async function runningDaemon(call: Call) {
  try {
    const { fleet, close } = await openFleet(call, false);
    const { daemon } = await fleet.status([]);
    close();
    return daemon;
  } catch (error) {
    if (error instanceof Error && 'type' in error && error.type === 'DaemonNotRunningError') return undefined;
    throw error;
  }
}

/** The daemon takes over this terminal; signals reach it, and its status is ours. */
function foreground(call: Call): Promise<number> {
  const child = spawn(process.execPath, [...daemonArguments(call), '--foreground'], { stdio: 'inherit', cwd: call.cwd });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? EXIT.failed)));
}
