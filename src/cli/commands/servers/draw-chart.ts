/** Its own bundle: it holds XState and the layout library, which no other command needs. */
import type { StateValue } from 'xstate';
import type { Inspection } from '../../../fleet/fleet.js';
import { mermaid } from '../../../machines/chart.js';
import { layOutChart } from '../../../machines/chart-layout.js';
import { chartSvg } from '../../../machines/chart-svg.js';
import { serverMachine } from '../../../machines/server.js';

export { drawCharts } from '../../../machines/charts.js';

export type ChartFormat = 'mermaid' | 'svg';

/** The statechart of a server as text, with its present state marked; in an SVG also the last transition. */
export function drawServer(format: ChartFormat, { server, snapshot, journal }: Inspection): string {
  if (format === 'mermaid') return mermaid(serverMachine, toStateValue(snapshot.server.split('.')));
  const last = journal.findLast(({ chart, earlier }) => chart === 'server' && earlier !== true);
  return chartSvg(layOutChart(serverMachine), `The statechart of ${server}`, {
    present: snapshot.server,
    last,
  });
}

function toStateValue([first = '', ...rest]: string[]): StateValue {
  return rest.length === 0 ? first : { [first]: toStateValue(rest) };
}
