import { loadBundle } from '../../../bin/load-bundle.js';
import type { DaemonStatus, ReloadReport, ServerStatus } from '../../../fleet/fleet.js';
import { type Command, type CommandContext, UsageError } from '../../core/command.js';
import { noteMisconfigured } from '../../core/daemon-variables.js';
import { EXIT } from '../../core/exit-codes.js';
import { withTimeout } from '../../core/timeout.js';
import { isAbsence } from '../../daemon/connect.js';
import { ensureDaemon } from '../../daemon/ensure-daemon.js';
import { findDaemon } from '../../daemon/find-daemon.js';
import { daemonArguments, startDaemon } from '../../daemon/start.js';
import { entryProblems } from '../servers/status-table.js';

export const verb: Command = {
  usage: 'up [--foreground] [--replace]',
  about: 'Starts the daemon in the background, and returns when its socket serves.',
  help: `A daemon that is ending is waited for, at most 60 s or as long as --timeout says; then a new one starts.

With --replace a new daemon starts with the environment of this command and asks the old one to end. Attached agents wait for
the new daemon. If the config is bad, the old daemon goes on.

With --foreground this process is the daemon. It ends in order on Ctrl-C, SIGTERM and when its terminal is closed, with status 0.
A second signal, a second or more after the first, ends the process at once with status 130; a watchdog kills its servers within
seconds. SIGHUP reads the config again. Log lines that are not read are dropped; all of them are in the log files.

Examples:
  toolherd up
  toolherd up --foreground        stays, and prints the log; for service managers
  toolherd up --replace           stops the one that runs first`,
  options: { foreground: { type: 'boolean' }, replace: { type: 'boolean' } },
  most: 0,
  async run(call) {
    const replace = call.flags.replace === true;
    if (call.flags.foreground === true) {
      if (replace) checkOutsideServers(call);
      const running = replace ? undefined : await findDaemon(call);
      return running === undefined ? becomeDaemon(call, replace) : alreadyRunning(call, running);
    }
    const outcome = replace ? { started: await startDaemon(call, { replace }) } : await ensureDaemon(call);
    if ('found' in outcome) return alreadyRunning(call, outcome.found);
    const { pid, servers } = outcome.started;
    const misconfigured = await misconfiguredIn(call);
    call.output.json({ already_running: false, pid, servers, ...misconfigured });
    call.output.print(`running (pid ${pid}), ${servers} ${servers === 1 ? 'server' : 'servers'} configured`);
    return EXIT.ok;
  },
};

async function alreadyRunning(call: CommandContext, daemon: DaemonStatus): Promise<number> {
  const misconfigured = await misconfiguredIn(call);
  call.output.json({ already_running: true, daemon, ...misconfigured });
  call.output.print(`already running (pid ${daemon.pid})`);
  return EXIT.ok;
}

/** The herd runs without them: that is no failure of `up`. Nor is it that another `up --replace` ended the daemon since. */
async function misconfiguredIn(call: CommandContext): Promise<Pick<ReloadReport, 'misconfigured'>> {
  const servers = await serversOf(call).catch((error: unknown) => {
    if (isAbsence(error)) return [];
    throw error;
  });
  const found = servers.map((server) => ({ server: server.name, problems: entryProblems(server) }));
  return noteMisconfigured(
    call,
    found.filter(({ problems }) => problems.length > 0),
  );
}

async function serversOf(call: CommandContext): Promise<ServerStatus[]> {
  const fleet = await call.fleet({ autostart: false, viewMode: 'herd' });
  return (await withTimeout(call, fleet.status())).servers;
}

/**
 * The environment of a process cannot be changed for those who read it in /proc, and Node cannot replace its process:
 * so this one keeps the mark of the server that it runs in, by which the old daemon finds what it has to kill. A daemon
 * in the background is started without it.
 */
function checkOutsideServers({ environment }: CommandContext): void {
  if (environment.TOOLHERD_COOKIE === undefined) return;
  throw new UsageError(
    "'up --foreground --replace' cannot run inside a server (TOOLHERD_COOKIE is set): the daemon of that server kills this process when the server ends",
    'toolherd up --replace',
  );
}

/**
 * This process becomes the daemon, with the arguments that a process in the background would have: so a signal reaches
 * the daemon once, and nothing of it is left when the command is killed. It ends the process when it has ended.
 */
function becomeDaemon(call: CommandContext, replace: boolean): Promise<never> {
  const json = call.output.isJson ? ['--json'] : [];
  process.argv.splice(1, process.argv.length, ...daemonArguments(call, { replace }), '--foreground', ...json);
  loadBundle('daemon');
  return new Promise(() => undefined);
}
