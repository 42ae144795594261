import { loadBundle } from '../../../bin/load-bundle.js';
import type { ClusterSummary, Fleet, ServerStatus } from '../../../fleet/fleet.js';
import { agentFileOf } from '../../../install/load-options.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { defineCommand, UsageError } from '../../core/command.js';
import { limitByTimeoutOption } from '../../core/timeout.js';
import { paintStates } from '../../ui/colors.js';
import type { Output } from '../../ui/output.js';
import { statusDetails, statusTable } from './status-table.js';

export const command = defineCommand({
  name: 'status',
  summary: 'Shows the state of every server at this moment.',
  details: `It also shows servers that only other agents have. The column AGENT says whose
they are.
In a project --wait and --exit-code are about the servers of its agent.yaml and
of the global config, or about the named ones.

States (of the newest process; with replicas, of the one in the worst state):
  created, connecting, connected, error, disconnected

Details:
  idle           it starts when it is called
  running        it runs, or is being started
  waiting        it failed, and waits for the next try
  quarantined    it failed too often; it is tried once after a pause
  stopped        you stopped it
  disabled       its config disables it
  needs_auth     it needs authorisation: see "toolherd help auth"
  not_allowed    its agent.yaml was revoked or deleted
  misconfigured  its entry cannot be resolved: a variable is not set, say`,
  args: { servers: { label: 'SERVER', optional: true, many: true, complete: 'any server' } },
  options: {
    watch: { type: 'boolean', about: 'show every change until q or Ctrl-C' },
    history: { type: 'boolean', about: 'calls, failures, restarts and memory of the last 24 hours' },
    wait: { type: 'boolean', about: 'wait until no server is starting' },
    'exit-code': { type: 'boolean', about: 'exit 1 unless every enabled server is well' },
  },
  examples: [
    'toolherd status',
    'toolherd status github --json',
    ['toolherd status -v', 'also the protocol and the lists'],
    ['toolherd status --watch --json', 'a line of JSON for every change'],
    'toolherd status --wait --exit-code',
    ['toolherd status --history', 'calls and memory as bars'],
  ],
  exits: {
    ok: 'ok',
    failed: 'with --exit-code: a server is not well',
    notRunning: 'no daemon runs',
    notFound: 'no such server',
  },
  ownTimeout: true,
  async run(context) {
    const { args, options, output } = context;
    const names = args.servers.length === 0 ? undefined : args.servers;
    if (options.watch) {
      if (options.history) throw new UsageError('--watch shows what happens now', 'leave out --history');
      if (options.wait)
        throw new UsageError('--watch does not end, so there is nothing to wait for', 'leave out --wait');
      return loadBundle<typeof import('./watch.js')>('watch').watch(context, names);
    }
    if (options.history) {
      if (options.wait || options['exit-code'])
        throw new UsageError('--history shows the past', 'leave out --wait and --exit-code');
      return loadBundle<typeof import('./status-history.js')>('status-history').showHistory(context, names);
    }
    // in a project, servers of other agents count only where they are named
    const counts = ({ other_view }: ServerStatus) =>
      other_view !== true || names !== undefined || agentFileOf(context) === undefined;
    let lose = () => {};
    const lost = new Promise<void>((resolve) => {
      lose = resolve;
    });
    const fleet = await context.fleet({ autostart: false, viewMode: 'if allowed', onLost: lose });
    const look = async () => (await fleet.status(names)).servers.filter(counts);
    if (options.wait) await limitByTimeoutOption(context, untilSettled(fleet, look, lost));
    const { servers, daemon } = await limitByTimeoutOption(context, fleet.status(names));
    output.json({ servers, daemon });
    output.print(statusTable(servers, Date.now(), output.columns, context.environment), paintStates);
    if (context.globals.verbose) for (const line of statusDetails(servers)) output.print(line);
    if (daemon.closing) output.note(`warning: the daemon (pid ${daemon.pid}) is ending`);
    if (daemon.config_error !== null)
      output.note(`warning: the changed config was not applied: ${daemon.config_error}`);
    if (daemon.http?.error) output.note(`warning: HTTP is not served on TCP: ${daemon.http.error}`);
    if (daemon.cluster) noteCluster(daemon.cluster, context.globals.verbose, output);
    if (output.columns !== undefined) output.note('the herd in a browser: toolherd ui');
    const isWell = servers
      .filter(counts)
      .every(({ detail }) => ['idle', 'running', 'stopped', 'disabled'].includes(detail));
    return options['exit-code'] && !isWell ? EXIT.failed : EXIT.ok;
  },
});

/** That all is well is news only for who asks for more. */
function noteCluster(cluster: ClusterSummary, isVerbose: boolean, output: Output): void {
  const { name, node, state, nodes, draining, why } = cluster;
  const others = `${nodes} other ${nodes === 1 ? 'node' : 'nodes'}`;
  if (state !== 'connected')
    output.note(`warning: the cluster ${name} is ${state}: ${why ?? 'no reason is known'}`);
  else if (draining) output.note(`${node} is draining: it takes no calls of other nodes`);
  else if (isVerbose) output.note(`${node} is a node of the cluster ${name}, with ${others}`);
}

const TICK_MS = 500;

/** Resolves when none of these servers is starting. */
async function untilSettled(
  fleet: Fleet,
  rows: () => Promise<ServerStatus[]>,
  lost: Promise<void>,
): Promise<void> {
  const isBusy = async () =>
    (await rows()).some(
      ({ state, detail }) => detail === 'running' && (state === 'connecting' || state === 'created'),
    );
  // it subscribes before it looks: a change in between is not missed
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
    // servers of other agents send no events here
    const tick = setInterval(look, TICK_MS);
    const end = () => {
      unsubscribe();
      clearInterval(tick);
    };
    void look();
    // a daemon that has ended sends no events: the next request to it fails, and says so
    void lost.then(look);
  });
}
