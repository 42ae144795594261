import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ShutdownReport } from '../../../fleet/fleet.js';
import { holderOf } from '../../../ipc/socket/socket-lock.js';
import { lockFileOf, successorFileOf } from '../../../ipc/socket/socket-owner.js';
import type { Command, CommandContext } from '../../core/command.js';
import { parseDuration } from '../../core/duration.js';
import { EXIT } from '../../core/exit-codes.js';
import { socketOf } from '../../daemon/connect.js';
import { lookForDaemon } from '../../daemon/find-daemon.js';

const ENDING_MS = 10_000;
const LOOK_MS = 10;

export const verb: Command = {
  usage: 'down [--grace 10s]',
  about: 'Stops every server, then the daemon. What does not go within the grace is killed.',
  help: `Attached agents do not start the daemon. Their calls fail until a daemon runs: 'toolherd up', 'toolherd call' or a new agent
starts one.

Examples:
  toolherd down
  toolherd down --grace 1s

Exit status: 0 no daemon serves, 1 the daemon did not end or another one serves, 3 no daemon was running.`,
  options: { grace: { type: 'string' } },
  most: 0,
  async run(call) {
    const { flags, output } = call;
    const graceMs = typeof flags.grace === 'string' ? parseDuration(flags.grace) : undefined;
    const fleet = await call.fleet({ autostart: false, viewMode: 'herd' });
    const { daemon } = await fleet.status([]);
    const report = await fleet.shutdown(graceMs).catch(ifEnded);
    const next = await nextOf(call, daemon.pid);
    const { stopped, killed, attached = 0 } = report ?? { stopped: [], killed: [] };
    output.json({ stopped, killed, attached, next_pid: next === daemon.pid ? null : (next ?? null) });
    if (next === daemon.pid) {
      printServers(call, report);
      output.error(`error: the daemon (pid ${daemon.pid}) has stopped its servers, but still has the socket`);
      output.error(
        `  fix: its log says why: ${join(call.paths.logFolder, 'daemon.log')}; end it with: kill ${daemon.pid}`,
      );
      return EXIT.failed;
    }
    if (report === undefined)
      output.print(`the daemon (pid ${daemon.pid}) was ending already, and has ended`);
    printServers(call, report);
    if (next !== undefined) {
      output.error(`error: the daemon (pid ${daemon.pid}) has ended, but another one (pid ${next}) serves`);
      output.error('  fix: another process started it; to end it too, run: toolherd down');
      return EXIT.failed;
    }
    if (attached > 0)
      output.note(
        `${attached} attached ${attached === 1 ? 'agent gets' : 'agents get'} errors until a daemon runs again: 'toolherd up', a new agent or 'toolherd call' starts one`,
      );
    return EXIT.ok;
  },
};

/** Another order ended the daemon first: its connection is gone, and the report with it. */
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
 * The daemon that serves when this one has ended, or is about to; undefined where none is, and its own pid where it does
 * not end. It gives its report before it has let go of its processes, its files and, last of all, the socket. It asks
 * the socket, because the pid of a zombie stays alive. A successor (`up --replace`) needs a moment longer than that to
 * serve: it is waited for, for as long again.
 */
async function nextOf(call: CommandContext, pid: number): Promise<number | undefined> {
  let next = pid;
  for (let deadline = Date.now() + ENDING_MS; Date.now() < deadline; await sleep(LOOK_MS)) {
    const found = await lookForDaemon(call);
    if (found === 'lost') continue;
    if (found !== 'absent') {
      if (found.pid !== pid) return found.pid;
      continue;
    }
    const holder = lockHolderOf(socketOf(call));
    if (holder === undefined) return undefined;
    if (next === pid && holder !== pid) deadline = Date.now() + ENDING_MS;
    next = holder;
  }
  return next;
}

/** Who is about to serve a socket: a successor has the second lock until it has the first. */
function lockHolderOf(socket: string): number | undefined {
  return holderOf(successorFileOf(socket)) ?? holderOf(lockFileOf(socket));
}
