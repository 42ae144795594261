import type { FleetEvent } from '../../../fleet/fleet.js';
import type { Command } from '../../core/command.js';
import { follow } from './follow.js';
import { formatEvent } from './format-event.js';

const TOPICS: readonly FleetEvent['topic'][] = ['state', 'log', 'catalog', 'call', 'notification'];

export const verb: Command = {
  usage: 'events [--agent FILE]',
  about: 'Shows what happens in the herd, as it happens: states, logs, changed lists, calls, notifications.',
  help: `Of a call it is told which tool, the names and types of its arguments, for whom, how long it took and how it ended;
never what was asked or answered. With --json each event is one line. It goes on until Ctrl-C. The calls of the past
are in the file that "toolherd doctor" names under audit, a line of JSON each.

Examples:
  toolherd events
  toolherd events --json | jq -r 'select(.topic == "call" and .ok == false)'
  toolherd events --agent ./agent.yaml       what this agent's servers do

Exit status: 3 no daemon runs, or it has ended; 130 interrupted.`,
  options: {},
  most: 0,
  run: (call) =>
    follow(call, async (fleet) => {
      fleet.subscribe(TOPICS, (event) => {
        call.output.jsonLine({ ...event });
        call.output.print(formatEvent(event));
      });
    }),
};
