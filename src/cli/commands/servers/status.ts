import { loadBundle } from '../../../bin/load-bundle.js';
import type { ServerStatus } from '../../../fleet/fleet.js';
import type { Command, CommandContext } from '../../core/command.js';
import { agentFileOf } from '../../core/config-paths.js';
import { EXIT } from '../../core/exit-codes.js';
import { withTimeout } from '../../core/timeout.js';
import { paintStates } from '../../ui/colors.js';
import { statusTable } from './status-table.js';

export const verb: Command = {
  usage: 'status [SERVER…] [--watch] [--wait] [--exit-code]',
  about: `Shows the herd: the state of every server, as it is at this moment; also of those that only other agents have, with
the column AGENT, which says whose each one is.`,
  help: `Examples:
  toolherd status
  toolherd status github --json
  toolherd status --watch           stays, and shows every change; q or Ctrl-C ends it
  toolherd status --watch --json    a line of JSON for every change
  toolherd status --wait            waits until no server is starting
  toolherd status --exit-code       exit 1 unless every enabled server is well

In a project --wait and --exit-code are about its agent.yaml and the global config, or about the servers that are named.

States: created, connecting, connected, error, disconnected (of the newest process).
Details: idle (starts when called), running, waiting (for the next try), quarantined, stopped, disabled,
needs_auth (see toolherd help auth), not_allowed (its agent.yaml was revoked or deleted), misconfigured (its entry cannot be
resolved, for example because a variable is not set).`,
  options: { watch: { type: 'boolean' }, wait: { type: 'boolean' }, 'exit-code': { type: 'boolean' } },
  most: Number.POSITIVE_INFINITY,
  async run(call) {
    const { args, flags, output } = call;
    if (flags.watch === true) return loadBundle<typeof import('./watch.js')>('watch').watch(call);
    let lose = () => {};
    const lost = new Promise<void>((resolve) => {
      lose = resolve;
    });
    const fleet = await call.fleet({ autostart: false, viewMode: 'if allowed', onLost: lose });
    const names = args.length === 0 ? undefined : [...args];
    const look = async () => (await fleet.status(names)).servers.filter((row) => isMeant(call, row));
    if (flags.wait === true) await withTimeout(call, untilSettled(fleet, look, lost));
    const { servers, daemon } = await withTimeout(call, fleet.status(names));
    output.json({ servers, daemon });
    output.print(statusTable(servers, Date.now(), output.columns, call.environment), paintStates);
    if (daemon.closing) output.note(`warning: the daemon (pid ${daemon.pid}) is ending`);
    if (daemon.config_error !== null)
      output.note(`warning: the changed config was not applied: ${daemon.config_error}`);
    if (daemon.http?.error) output.note(`warning: HTTP is not served on TCP: ${daemon.http.error}`);
    const meant = servers.filter((row) => isMeant(call, row));
    const isWell = meant.every(({ detail }) => ['idle', 'running', 'stopped', 'disabled'].includes(detail));
    return flags['exit-code'] === true && !isWell ? EXIT.failed : EXIT.ok;
  },
};

const TICK_MS = 500;

type Fleet = Awaited<ReturnType<Parameters<Command['run']>[0]['fleet']>>;

/** What --wait and --exit-code are about: in a project, the servers of other agents only where they are named. */
function isMeant(call: CommandContext, { other_view }: ServerStatus): boolean {
  return other_view !== true || call.args.length > 0 || agentFileOf(call) === undefined;
}

/** Resolves when no server of these is on its way up. */
async function untilSettled(
  fleet: Fleet,
  rows: () => Promise<ServerStatus[]>,
  lost: Promise<void>,
): Promise<void> {
  const isBusy = async () =>
    (await rows()).some(
      ({ state, detail }) => detail === 'running' && (state === 'connecting' || state === 'created'),
    );
  // it listens before it looks: what happens in between is not missed
  await new Promise<void>((resolve, reject) => {
    const fail = (error: unknown) => {
      end();
      reject(error);
    };
    const look = () =>
      isBusy().then((busy) => {
        if (busy) return;
        end();
        resolve();
      }, fail);
    const unsubscribe = fleet.subscribe(['state'], look);
    // no event tells of servers of other views
    const tick = setInterval(look, TICK_MS);
    const end = () => {
      unsubscribe();
      clearInterval(tick);
    };
    void look();
    // a daemon that has gone tells of nothing more: to ask it is what says so
    void lost.then(look);
  });
}
