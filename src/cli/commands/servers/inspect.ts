import type { StateValue } from 'xstate';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { defineCommand } from '../../core/command.js';

type ChartFormat = 'mermaid' | 'svg';

export const command = defineCommand({
  name: 'inspect',
  summary: 'Shows everything about one server: its spec, its states and its journal.',
  details: 'Secrets are left out.',
  args: { server: { complete: 'any server' } },
  options: {
    chart: { type: 'string', choices: ['mermaid', 'svg'], about: 'the statechart, the present state marked' },
  },
  examples: [
    'toolherd inspect memory',
    'toolherd inspect memory --chart svg > memory.svg',
    'toolherd inspect memory --chart mermaid',
  ],
  exits: { ok: 'ok', notRunning: 'no daemon runs', notFound: 'no such server' },
  async run(context) {
    const { args, options, output } = context;
    const fleet = await context.fleet({ autostart: false });
    const inspection = await fleet.inspect(args.server);
    if (options.chart !== undefined) {
      const chart = await drawServer(options.chart, inspection.snapshot.server);
      output.json({ chart });
      if (!output.isJson) output.printRaw(`${chart}\n`);
      return EXIT.ok;
    }
    output.json({ ...inspection });
    output.print(JSON.stringify(inspection, null, 2));
    return EXIT.ok;
  },
});

/** The statechart of a server as text, with the present state (`connected.serving`) marked. */
async function drawServer(format: ChartFormat, state: string): Promise<string> {
  const present = toStateValue(state.split('.'));
  if (format === 'svg') {
    const { serverSvg } = await import('../../../machines/chart-svg.js');
    return serverSvg(present);
  }
  const { mermaid } = await import('../../../machines/chart.js');
  const { serverMachine } = await import('../../../machines/server.js');
  return mermaid(serverMachine, present);
}

function toStateValue([first = '', ...rest]: string[]): StateValue {
  return rest.length === 0 ? first : { [first]: toStateValue(rest) };
}
