import { EXIT } from '../exit-codes.js';
import { loadBundle } from '../load-bundle.js';
import { paintStates } from '../paint.js';
import { statusTable } from '../status-table.js';
import type { Verb } from '../verb.js';
import { within } from '../within.js';

export const verb: Verb = {
  usage: 'status [SERVER…] [--watch] [--wait] [--exit-code]',
  about: 'Shows the herd: the state of every server, as it is at this moment.',
  help: `Examples:
  toolherd status
  toolherd status github --json
  toolherd status --watch           stays, and shows every change; q or Ctrl-C ends it
  toolherd status --watch --json    a line of JSON for every change
  toolherd status --wait            waits until no server is starting
  toolherd status --exit-code       exit 1 unless every enabled server is well

States: created, connecting, connected, error, disconnected (of the newest process).
Details: idle (starts when called), running, waiting (for the next try), quarantined, stopped, disabled,
needs_auth (see toolherd help auth), not_allowed (its agent.yaml was revoked).`,
  options: { watch: { type: 'boolean' }, wait: { type: 'boolean' }, 'exit-code': { type: 'boolean' } },
  most: Number.POSITIVE_INFINITY,
  async run(call) {
    const { args, flags, output } = call;
    if (flags.watch === true) return loadBundle<typeof import('../watch.js')>('watch').watch(call);
    let lose = () => {};
    const lost = new Promise<void>((resolve) => {
      lose = resolve;
    });
    const fleet = await call.fleet({ autostart: false, outlook: 'if allowed', onLost: lose });
    const names = args.length === 0 ? undefined : [...args];
    if (flags.wait === true) await within(call, untilSettled(fleet, names, lost));
    const { servers, daemon } = await within(call, fleet.status(names));
    output.json({ servers, daemon });
    output.print(statusTable(servers, Date.now(), output.columns), paintStates);
    if (daemon.config_error !== null)
      output.note(`warning: the changed config was not applied: ${daemon.config_error}`);
    if (daemon.http?.error) output.note(`warning: HTTP is not served on TCP: ${daemon.http.error}`);
    const isWell = servers.every(({ detail }) => ['idle', 'running', 'stopped', 'disabled'].includes(detail));
    return flags['exit-code'] === true && !isWell ? EXIT.failed : EXIT.ok;
  },
};

type Fleet = Awaited<ReturnType<Parameters<Verb['run']>[0]['fleet']>>;

/** Resolves when no server of these is on its way up. */
async function untilSettled(
  fleet: Fleet,
  names: readonly string[] | undefined,
  lost: Promise<void>,
): Promise<void> {
  const isBusy = async () => {
    const { servers } = await fleet.status(names);
    return servers.some(
      ({ state, detail }) => detail === 'running' && (state === 'connecting' || state === 'created'),
    );
  };
  // it listens before it looks: what happens in between is not missed
  await new Promise<void>((resolve, reject) => {
    const look = () =>
      isBusy().then((busy) => {
        if (busy) return;
        end();
        resolve();
      }, reject);
    const end = fleet.subscribe(['state'], look);
    void look();
    // a daemon that has gone tells of nothing more: to ask it is what says so
    void lost.then(look);
  });
}
