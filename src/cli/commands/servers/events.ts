import { type FleetEvent, TOPICS } from '../../../fleet/events.js';
import { defineCommand } from '../../core/command.js';
import { follow } from './follow.js';
import { formatEvent } from './format-event.js';

export const command = defineCommand({
  name: 'events',
  summary: 'Shows states, logs, changed lists, calls and notifications as they happen.',
  details: `It runs until Ctrl-C, or until --timeout passes.
A state is shown when it changes; -v shows every step of the statecharts.
With --json each event is one line.
An event of a call has the tool, the names and types of its arguments, the
caller, the duration and the outcome. It never has values or results.
Past calls are in the audit file: see "toolherd help audit".`,
  examples: [
    'toolherd events',
    `toolherd events --json | jq -r 'select(.topic == "call" and .ok == false)'`,
    ['toolherd events --agent ./agent.yaml', "also this agent's servers"],
  ],
  exits: {
    notRunning: 'no daemon runs, or it has ended',
    timeout: '--timeout has passed',
    interrupted: 'interrupted',
  },
  ownTimeout: true,
  run: (context) =>
    follow(context, async (fleet) => {
      const shown = new Map<string, string>();
      /** Steps inside of a state, and those of the keeper that follow one of the server, change nothing that is shown. */
      const isNews = (event: FleetEvent) => {
        if (event.topic !== 'state' || context.globals.verbose) return true;
        const state = `${event.state} ${event.detail}`;
        const before = shown.get(event.server);
        shown.set(event.server, state);
        return state !== before;
      };
      fleet.subscribe(TOPICS, (event) => {
        context.output.jsonLine({ ...event });
        if (isNews(event)) context.output.print(formatEvent(event));
      });
    }),
});
