import type { ConnectedAgent, OpenCall } from '../../../fleet/fleet.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { elapsedSince } from '../../../shared/text/elapsed.js';
import { defineCommand } from '../../core/command.js';
import { table } from '../../ui/table.js';

export const command = defineCommand({
  name: 'agents',
  summary: 'Shows who is connected to the daemon, and what they call at this moment.',
  details: `Each connection is a line: an agent, a script, another command.
CALLS counts its calls that have ended. NOW has those that have not: for how
long they run, or wait for their server.
With --agent FILE it shows the connections of that agent.yaml alone.`,
  examples: ['toolherd agents', "toolherd agents --json | jq '.agents[] | {client, in_flight}'"],
  exits: { ok: 'ok, also when there are none', notRunning: 'no daemon runs' },
  async run(context) {
    const { output, globals } = context;
    const viewMode = globals.agent === undefined ? 'herd' : 'agent';
    const fleet = await context.fleet({ autostart: false, viewMode });
    // this command is of no interest
    const agents = (await fleet.agents()).filter(({ self }) => self !== true);
    output.json({ agents });
    if (agents.length > 0) output.print(agentsTable(agents, Date.now(), output.columns));
    else output.note('no agent is connected');
    return EXIT.ok;
  },
});

export function agentsTable(agents: readonly ConnectedAgent[], now: number, columns?: number): string {
  const rows = agents.map((agent) => [
    clientText(agent),
    agent.via,
    elapsedSince(agent.since, now),
    String(agent.calls),
    viewText(agent),
    agent.in_flight.map((call) => callText(call, now)).join(', ') || '-',
  ]);
  return table(['CLIENT', 'VIA', 'SINCE', 'CALLS', 'VIEW', 'NOW'], rows, columns);
}

function clientText({ client, caller }: ConnectedAgent): string {
  return client === null ? `(${caller})` : [client.name, client.version ?? ''].join(' ').trimEnd();
}

function viewText({ agent, profile, surface }: ConnectedAgent): string {
  const view = [agent ?? '', profile === null ? '' : `profile ${profile}`].filter(Boolean).join(', ');
  return (view || 'the whole herd') + (surface === null ? '' : ` (surface ${surface})`);
}

function callText({ server, tool, method, since }: OpenCall, now: number): string {
  return `${server}${tool === null ? ` ${method}` : `.${tool}`} ${elapsedSince(since, now)}`;
}
