import type { StateValue } from 'xstate';
import { mermaid } from '../../../machines/chart.js';
import { serverSvg } from '../../../machines/chart-svg.js';
import { serverMachine } from '../../../machines/server.js';

/** The statechart of a server as text, with the present state (`connected.serving`) marked. */
export function drawServer(kind: 'mermaid' | 'svg', state: string): string {
  const present = toStateValue(state.split('.'));
  return kind === 'svg' ? serverSvg(present) : mermaid(serverMachine, present);
}

function toStateValue([first = '', ...rest]: string[]): StateValue {
  return rest.length === 0 ? first : { [first]: toStateValue(rest) };
}
