/** Draws a statechart as a standalone SVG, in the colours of the reader's system: light or dark. */
import type { StateValue } from 'xstate';
import {
  type ChartDrawing,
  type DrawnEdge,
  type DrawnState,
  drawnEdge,
  drawnState,
} from './chart-drawing.js';
import { presentPath } from './chart-edges.js';
import { LABEL, layOutChart, NAME } from './chart-layout.js';
import { serverMachine } from './server.js';

export interface Marks {
  /** The full name of the present state: it is filled. */
  present?: string | undefined;
  /** The last transition, as a journal has it: its arrow is drawn thick. */
  last?: { from: string; to: string; event: string } | undefined;
}

const STYLE = `
svg { --page: #ffffff; --box: #f6f8fa; --line: #8c959f; --arrow: #57606a; --text: #1f2328; --here: #1f6feb; --on-here: #ffffff; --last: #bc4c00 }
@media (prefers-color-scheme: dark) {
  svg { --page: #0d1117; --box: #161b22; --line: #6e7681; --arrow: #9198a1; --text: #e6edf3; --here: #388bfd; --on-here: #0d1117; --last: #f0883e }
}
.page { fill: var(--page) }
.state rect { fill: var(--box); stroke: var(--line) }
.state.outer rect { fill: none }
.state text { fill: var(--text); font-size: ${NAME.size}px; font-weight: bold; text-anchor: middle }
.state.final rect { stroke-width: 3 }
.state .begin { fill: var(--arrow) }
.state.around rect { stroke: var(--here); stroke-width: 2 }
.state.present rect { fill: var(--here); stroke: var(--here) }
.state.present text { fill: var(--on-here) }
.edge path { fill: none; stroke: var(--arrow) }
.edge rect { fill: var(--page) }
.edge text { fill: var(--arrow); text-anchor: middle }
.edge.last path { stroke: var(--last); stroke-width: 2.5 }
.edge.last text { fill: var(--last); font-weight: bold }
.tip { fill: var(--arrow) }
.tip.last { fill: var(--last) }
`;

/** The server machine, without a history. */
export function serverSvg(present?: StateValue): string {
  return chartSvg(layOutChart(serverMachine), 'The life of one incarnation of a server', {
    present: present === undefined ? undefined : presentPath(present),
  });
}

export function chartSvg(drawing: ChartDrawing, title: string, { present, last }: Marks = {}): string {
  const { width, height, states, edges } = drawing;
  const here = present === undefined ? undefined : drawnState(drawing, present);
  const taken = last && drawnEdge(drawing, last);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" ` +
      `role="img" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="${LABEL.size}">`,
    `<title>${escaped(title)}</title>`,
    `<style>${STYLE}</style>`,
    `<defs>${tip('tip', 'tip')}${tip('last-tip', 'tip last')}</defs>`,
    `<rect class="page" width="${width}" height="${height}"/>`,
    ...states.filter(({ id }) => isOuter(states, id)).map((state) => drawState(state, here, true)),
    ...edges.map((edge) => drawLine(edge, edge === taken)),
    ...edges.map((edge) => drawLabel(edge, edge === taken)),
    ...states.filter(({ id }) => !isOuter(states, id)).map((state) => drawState(state, here, false)),
    '</svg>',
    '',
  ].join('\n');
}

function tip(id: string, name: string): string {
  return (
    `<marker id="${id}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" ` +
    `markerUnits="userSpaceOnUse" orient="auto"><path class="${name}" d="M0 0 8 4 0 8z"/></marker>`
  );
}

function isOuter(states: readonly DrawnState[], id: string): boolean {
  return states.some(({ parent }) => parent === id);
}

function drawState(state: DrawnState, here: DrawnState | undefined, holdsOthers: boolean): string {
  const { id, label, x, y, width, height } = state;
  const names = [
    'state',
    holdsOthers && 'outer',
    state.final && 'final',
    id === here?.id && 'present',
    id === here?.parent && 'around',
  ].filter(Boolean);
  return (
    `<g class="${names.join(' ')}" data-state="${escaped(id)}">` +
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="8"/>` +
    (state.initial ? `<circle class="begin" cx="${x + 9}" cy="${y + 9}" r="3.5"/>` : '') +
    `<text x="${state.labelAt.x}" y="${state.labelAt.y + 4.5}">${escaped(label)}</text></g>`
  );
}

function drawLine({ from, to, path }: DrawnEdge, isLast: boolean): string {
  const marker = isLast ? 'last-tip' : 'tip';
  return (
    `<g class="edge${isLast ? ' last' : ''}" data-from="${escaped(from)}" data-to="${escaped(to)}">` +
    `<path d="${path}" marker-end="url(#${marker})"/></g>`
  );
}

/** On the line, which its background interrupts. */
function drawLabel({ label, labelAt: { x, y } }: DrawnEdge, isLast: boolean): string {
  const lines = label.split('\n');
  const height = lines.length * LABEL.lineHeight;
  const width = Math.max(...lines.map((line) => line.length)) * LABEL.character;
  const texts = lines.map(
    (line, index) =>
      `<tspan x="${x}" y="${y - height / 2 + LABEL.lineHeight * index + 10.5}">${escaped(line)}</tspan>`,
  );
  return (
    `<g class="edge${isLast ? ' last' : ''}">` +
    `<rect x="${x - width / 2}" y="${y - height / 2}" width="${width}" height="${height}" rx="3"/>` +
    `<text>${texts.join('')}</text></g>`
  );
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
