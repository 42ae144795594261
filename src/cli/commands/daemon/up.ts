import { loadBundle } from '../../../bin/load-bundle.js';
import type { DaemonStatus, ReloadReport, ServerStatus } from '../../../fleet/fleet.js';
import { entryProblems } from '../../../fleet/texts/server-notes.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { type CommandContext, defineCommand, UsageError } from '../../core/command.js';
import { warnAboutMisconfigured } from '../../core/config-problems.js';
import { limitByTimeoutOption } from '../../core/timeout.js';
import { checkDaemonConfig } from '../../daemon/config-file.js';
import { isDaemonAbsent } from '../../daemon/connect.js';
import { findDaemon } from '../../daemon/find-daemon.js';
import { daemonArguments, ensureDaemon, startDaemon } from '../../daemon/start.js';

export const command = defineCommand({
  name: 'up',
  summary: 'Starts the daemon in the background, and returns when its socket serves.',
  details: `If the old daemon is shutting down, up waits for it (60 s, or --timeout),
and then starts a new one.

With --replace the new daemon has the environment of this command.
Attached agents wait for it.
If the config is bad, the old daemon keeps running.

With --foreground this process is the daemon.
Ctrl-C, SIGTERM and the end of its terminal stop its servers and end it with
status 0. SIGHUP reads the config again.
Another signal, at least one second later, ends it at once with status 130; a
watchdog kills its servers within seconds.
Output that is not read is dropped; the log files have all lines.`,
  options: {
    foreground: { type: 'boolean', about: 'stay, and print the log; for service managers' },
    replace: { type: 'boolean', about: 'end the running daemon first' },
  },
  examples: ['toolherd up', 'toolherd up --foreground', 'toolherd up --replace'],
  exits: {
    ok: 'a daemon serves',
    failed: 'the daemon could not start',
    badConfig: 'the config is wrong',
  },
  ownTimeout: true,
  async run(context) {
    const { foreground, replace } = context.options;
    if (foreground) {
      if (replace) checkOutsideServers(context);
      const running = replace ? undefined : await findDaemon(context);
      return running === undefined ? becomeDaemon(context, replace) : alreadyRunning(context, running);
    }
    const outcome = replace
      ? { started: await startDaemon(context, { replace }) }
      : await ensureDaemon(context);
    if ('found' in outcome) return alreadyRunning(context, outcome.found);
    const { pid, servers } = outcome.started;
    const misconfigured = await misconfiguredIn(context);
    context.output.json({ already_running: false, pid, servers, ...misconfigured });
    context.output.print(
      `running (pid ${pid}), ${servers} ${servers === 1 ? 'server' : 'servers'} configured`,
    );
    namePage(context);
    return EXIT.ok;
  },
});

async function alreadyRunning(context: CommandContext, daemon: DaemonStatus): Promise<number> {
  checkDaemonConfig(context, daemon.config_file);
  const misconfigured = await misconfiguredIn(context);
  context.output.json({ already_running: true, daemon, ...misconfigured });
  context.output.print(`already running (pid ${daemon.pid})`);
  namePage(context);
  return EXIT.ok;
}

/** Only on a terminal: scripts compare the output. */
function namePage({ output }: CommandContext): void {
  if (output.columns !== undefined) output.note('the herd in a browser: toolherd ui');
}

/** Misconfigured servers are no failure of `up`. Nor is a daemon that another `up --replace` has ended since. */
async function misconfiguredIn(context: CommandContext): Promise<Pick<ReloadReport, 'misconfigured'>> {
  const servers = await serversOf(context).catch((error: unknown) => {
    if (isDaemonAbsent(error)) return [];
    throw error;
  });
  const found = servers.map((server) => ({ server: server.name, problems: entryProblems(server) }));
  return warnAboutMisconfigured(
    context,
    found.filter(({ problems }) => problems.length > 0),
  );
}

async function serversOf(context: CommandContext): Promise<ServerStatus[]> {
  const fleet = await context.fleet({ autostart: false, viewMode: 'herd' });
  return (await limitByTimeoutOption(context, fleet.status())).servers;
}

/**
 * /proc shows the environment that a process was started with, and Node cannot replace its process. So this process keeps
 * TOOLHERD_COOKIE, by which the old daemon finds the processes of a server to kill them. A daemon in the background is
 * started without it.
 */
function checkOutsideServers({ environment }: CommandContext): void {
  if (environment.TOOLHERD_COOKIE === undefined) return;
  throw new UsageError(
    "'up --foreground --replace' cannot run inside a server (TOOLHERD_COOKIE is set): the daemon of that server kills this process when the server ends",
    'toolherd up --replace',
  );
}

/**
 * This process becomes the daemon, with the arguments of a daemon in the background. So a signal reaches the daemon once,
 * and no process is left when the command is killed. The daemon ends the process.
 */
function becomeDaemon(context: CommandContext, replace: boolean): Promise<never> {
  const json = context.output.isJson ? ['--json'] : [];
  process.argv.splice(
    1,
    process.argv.length,
    ...daemonArguments(context, { replace }),
    '--foreground',
    ...json,
  );
  loadBundle('daemon');
  return new Promise(() => undefined);
}
