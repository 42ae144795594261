import { setTimeout as sleep } from 'node:timers/promises';
import type { ShutdownReport } from '../../../fleet/fleet.js';
import { holderOf } from '../../../ipc/socket/socket-lock.js';
import { lockFileOf, successorFileOf } from '../../../ipc/socket/socket-owner.js';
import { daemonLog } from '../../../log/log-paths.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { type CommandContext, defineCommand, NOTHING_RUNS } from '../../core/command.js';
import { printError } from '../../core/report-error.js';
import { socketOf } from '../../daemon/connect.js';
import { lookForDaemon } from '../../daemon/find-daemon.js';

/** After its report, which comes when its servers have ended. */
const EXIT_WAIT_MS = 10_000;
const POLL_MS = 10;

export const command = defineCommand({
  name: 'down',
  summary: 'Stops every server, then the daemon.',
  details: `Servers that do not exit within the grace period are killed, and listed.
Attached agents do not start the daemon again. Their calls fail until a daemon
runs: "toolherd up", "toolherd call" or a new agent starts one.`,
  options: {
    grace: { type: 'duration', label: '10s', about: 'how long servers may take to exit (default: 10s)' },
  },
  examples: ['toolherd down', 'toolherd down --grace 1s'],
  exits: {
    ok: 'no daemon serves',
    failed: 'the daemon did not end, or another one serves',
    notRunning: 'no daemon was running',
  },
  async run(context) {
    const { options, output } = context;
    const fleet = await context.fleet({
      autostart: false,
      viewMode: 'herd',
      absentFix: NOTHING_RUNS,
    });
    const { daemon } = await fleet.status([]);
    const report = await fleet.shutdown(options.grace).catch(ifEnded);
    const next = await nextOf(context, daemon.pid);
    const { stopped, killed, attached = 0 } = report ?? { stopped: [], killed: [] };
    output.json({ stopped, killed, attached, next_pid: next === daemon.pid ? null : (next ?? null) });
    if (next === daemon.pid) {
      printServers(context, report);
      printError(output, {
        type: 'AlreadyRunningError',
        message: `the daemon (pid ${daemon.pid}) has stopped its servers, but still has the socket`,
        fix: `its log says why: ${daemonLog(context.paths.logFolder)}; end it with: kill ${daemon.pid}`,
      });
      return EXIT.failed;
    }
    if (report === undefined)
      output.print(`the daemon (pid ${daemon.pid}) was ending already, and has ended`);
    printServers(context, report);
    if (next !== undefined) {
      printError(output, {
        type: 'AlreadyRunningError',
        message: `the daemon (pid ${daemon.pid}) has ended, but another one (pid ${next}) serves`,
        fix: 'another process started it; to end it too, run: toolherd down',
      });
      return EXIT.failed;
    }
    if (attached > 0)
      output.note(
        `${attached} attached ${attached === 1 ? 'agent gets' : 'agents get'} errors until a daemon runs again: 'toolherd up', a new agent or 'toolherd call' starts one`,
      );
    return EXIT.ok;
  },
});

/** The daemon was ending already, and closed the connection before its report. */
function ifEnded(error: unknown): undefined {
  if ((error as { type?: unknown }).type !== 'ConnectionLostError') throw error;
}

function printServers({ output }: CommandContext, report: ShutdownReport | undefined): void {
  if (report === undefined) return;
  const { stopped, killed } = report;
  if (stopped.length > 0) output.print(`stopped: ${stopped.join(', ')}`);
  if (killed.length > 0) output.print(`killed: ${killed.join(', ')}`);
  if (stopped.length + killed.length === 0) output.print('stopped: no server was running');
}

/**
 * The pid of the daemon that serves, or is about to, after this one has ended. Undefined if there is none; its own pid if it
 * does not end. The daemon reports before it has released its processes, its files and, last, the socket. This asks the
 * socket, because the pid of a zombie stays alive. A successor (`up --replace`) gets as long again to serve.
 */
async function nextOf(context: CommandContext, pid: number): Promise<number | undefined> {
  let next = pid;
  for (let deadline = Date.now() + EXIT_WAIT_MS; Date.now() < deadline; await sleep(POLL_MS)) {
    const found = await lookForDaemon(context);
    if (found === 'lost') continue;
    if (found !== 'absent') {
      if (found.pid !== pid) return found.pid;
      continue;
    }
    const holder = lockHolderOf(socketOf(context));
    if (holder === undefined) return undefined;
    if (next === pid && holder !== pid) deadline = Date.now() + EXIT_WAIT_MS;
    next = holder;
  }
  return next;
}

/** The process that is about to serve a socket: a successor holds the second lock until it has the first. */
function lockHolderOf(socket: string): number | undefined {
  return holderOf(successorFileOf(socket)) ?? holderOf(lockFileOf(socket));
}
