import { EXIT } from '../../../shared/report/exit-codes.js';
import { defineCommand, UsageError } from '../../core/command.js';
import { paintStates } from '../../ui/colors.js';
import { clusterText } from './cluster-text.js';

const ACTIONS = ['status', 'drain', 'undrain'] as const;

export const command = defineCommand({
  name: 'cluster',
  summary: 'Shows the cluster that this daemon is a node of, or drains this node.',
  details: `status   the nodes, and the servers that they share. It is the default
drain    ends the work of this node for others: calls in flight end, new ones go
         to other nodes. Agents of this machine go on. Do it before maintenance
undrain  lets other nodes call this one again, as a new start of the daemon does

States of nodes:
  up        other nodes call it
  draining  it takes no new calls of others
  away      it does not answer; its servers are used where other nodes have them

The config says which cluster: see "cluster" in docs/CONFIG.md.`,
  args: { action: { choices: ACTIONS, optional: true } },
  options: {
    'exit-code': { type: 'boolean', about: 'with status: exit 1 unless this node is connected' },
  },
  examples: [
    'toolherd cluster status',
    ['toolherd cluster drain', 'before this machine is restarted'],
    'toolherd cluster undrain',
    `toolherd cluster status --json | jq '.nodes[] | select(.state != "up").name'`,
  ],
  exits: {
    ok: 'ok',
    failed: 'with --exit-code: not connected; with drain and undrain: in no cluster',
    notRunning: 'no daemon runs',
  },
  async run(context) {
    const { args, options, output } = context;
    const { action = 'status' } = args;
    if (options['exit-code'] && action !== 'status')
      throw new UsageError('--exit-code is about the status', `leave it out with ${action}`);
    const fleet = await context.fleet({ autostart: false, viewMode: 'herd' });
    if (action === 'status') {
      const status = await fleet.cluster();
      output.json({ ...status });
      output.print(clusterText(status, Date.now(), output.columns), paintStates);
      return options['exit-code'] && status.state !== 'connected' ? EXIT.failed : EXIT.ok;
    }
    const status = await (action === 'drain' ? fleet.clusterDrain() : fleet.clusterUndrain());
    output.json({ ...status });
    output.print(
      status.draining
        ? `${status.node} is draining: it takes no new calls of other nodes`
        : `${status.node} takes calls of other nodes`,
    );
    return EXIT.ok;
  },
});
