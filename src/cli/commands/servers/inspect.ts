import { loadBundle } from '../../../bin/load-bundle.js';
import type { Inspection } from '../../../fleet/fleet.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { type CommandContext, defineCommand } from '../../core/command.js';
import { bytes } from '../../ui/table.js';
import { singleLine } from '../../ui/text.js';
import { explainServer } from './explain.js';

export const command = defineCommand({
  name: 'inspect',
  summary: 'Shows everything about one server: its spec, its states and its journal.',
  details: `Secrets are left out. --chart svg also marks the last transition.
--json has the same as one document, with the whole journal.`,
  args: { server: { complete: 'any server' } },
  options: {
    chart: {
      type: 'string',
      choices: ['mermaid', 'svg'],
      about: 'the statechart, the present state marked',
    },
  },
  examples: [
    'toolherd inspect memory',
    'toolherd inspect memory --json | jq .journal',
    'toolherd inspect memory --chart svg > memory.svg',
    'toolherd inspect memory --chart mermaid',
  ],
  exits: { ok: 'ok', notRunning: 'no daemon runs', notFound: 'no such server' },
  async run(context) {
    const { args, options, output } = context;
    const fleet = await context.fleet({ autostart: false });
    const inspection = await fleet.inspect(args.server);
    if (options.chart !== undefined) {
      const { drawServer } = loadBundle<typeof import('./draw-chart.js')>('draw-chart');
      const chart = drawServer(options.chart, inspection);
      output.json({ chart });
      if (!output.isJson) output.printRaw(`${chart}\n`);
      return EXIT.ok;
    }
    output.json({ ...inspection });
    output.print(page(inspection, context));
    return EXIT.ok;
  },
});

/** What `why -v` says, and in tables below it the states, the numbers and the spec. */
function page(inspection: Inspection, { environment }: CommandContext): string {
  const { status, snapshot, spec } = inspection;
  const numbers = {
    pids: status.pids.join(', ') || '-',
    incarnation: status.incarnation,
    restarts: status.restarts,
    calls: `${status.calls} (${status.failures} failed, ${status.in_flight} in flight)`,
    memory: bytes(status.rss_bytes),
    protocol: status.protocol_version ?? '-',
    runner: status.runner,
    package: status.package && `${status.package.name} ${status.package.version}`,
    offers: `${status.tools} tools, ${status.prompts} prompts, ${status.resources} resources`,
  };
  return [
    explainServer(inspection, Date.now(), false, environment),
    section('States', { server: snapshot.server, keeper: snapshot.keeper }),
    section('Numbers', numbers),
    section('Spec', spec),
  ].join('\n\n');
}

function section(title: string, values: Readonly<Record<string, unknown>>): string {
  const rows = Object.entries(values).filter(([, value]) => !isEmpty(value));
  const width = Math.max(...rows.map(([name]) => name.length));
  const text = (value: unknown) => singleLine(typeof value === 'string' ? value : JSON.stringify(value));
  return [`${title}:`, ...rows.map(([name, value]) => `  ${name.padEnd(width)}  ${text(value)}`)].join('\n');
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || ['{}', '[]'].includes(JSON.stringify(value));
}
