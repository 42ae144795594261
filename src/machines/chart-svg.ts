/**
 * Draws the server machine as a standalone SVG. The positions are written by hand; states, arrows and labels come
 * from the definition. A state without coordinates is drawn dashed, at the edge.
 */
import type { StateValue } from 'xstate';
import { type ChartEdge, type ChartState, chartEdges, chartStates, presentPath } from './chart-edges.js';
import { serverMachine } from './server.js';

/** Left, top, width, height. The two ends are tall, so that every way into them is a straight line. */
const boxes: Readonly<Record<string, readonly [number, number, number, number]>> = {
  created: [370, 20, 110, 40],
  connecting: [350, 120, 420, 150],
  'connecting.opening': [370, 175, 110, 40],
  'connecting.aborting': [640, 175, 110, 40],
  connected: [350, 350, 420, 300],
  'connected.discovering': [370, 420, 110, 40],
  'connected.serving': [640, 420, 110, 40],
  'connected.closing': [505, 580, 110, 40],
  error: [30, 20, 110, 630],
  disconnected: [1000, 20, 120, 630],
};

/** The corners of an arrow, and where its first label stands. */
type Route = readonly [corners: string, labelX: number, labelY: number];

const routes: Readonly<Record<string, Route>> = {
  'created>error': ['370,40 140,40', 160, 34],
  'created>disconnected': ['480,40 1000,40', 790, 34],
  'created>connecting': ['425,60 425,120', 433, 94],
  'connecting>error': ['350,190 140,190', 160, 142],
  'connecting.opening>connecting.aborting': ['480,195 640,195', 494, 161],
  'connecting.opening>connected': ['425,215 425,350', 433, 300],
  'connecting.aborting>connecting.aborting': ['665,175 665,158 725,158 725,175', 636, 151],
  'connecting.aborting>disconnected': ['750,195 1000,195', 790, 175],
  'connecting.aborting>error': ['695,215 695,320 140,320', 160, 286],
  'connected.discovering>connected.discovering': ['395,420 395,403 455,403 455,420', 366, 396],
  'connected.discovering>connected.serving': ['480,433 640,433', 488, 413],
  'connected.serving>connected.discovering': ['640,450 480,450', 502, 465],
  'connected.serving>connected.serving': ['665,420 665,403 725,403 725,420', 634, 396],
  'connected.discovering>connected.closing': ['425,460 425,592 505,592', 433, 510],
  'connected.serving>connected.closing': ['695,460 695,592 615,592', 518, 510],
  'connected.closing>connected.closing': ['530,620 530,636 590,636 590,620', 600, 640],
  'connected>error': ['350,440 140,440', 160, 392],
  'connected>disconnected': ['770,440 1000,440', 790, 434],
  'connected.closing>error': ['505,610 140,610', 160, 576],
  'connected.closing>disconnected': ['615,610 1000,610', 790, 590],
};

export function serverSvg(present?: StateValue): string {
  const here = present === undefined ? undefined : presentPath(present);
  const states = chartStates(serverMachine).flatMap((state) => [state, ...state.children]);
  return [
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1150 670" font-family="ui-monospace, monospace" font-size="11">',
    '<title>The life of one incarnation of a server</title>',
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">' +
      '<path d="M0 0 8 4 0 8z" fill="#57606a"/></marker></defs>',
    '<rect width="1150" height="670" fill="#ffffff"/>',
    ...states.map((state) => drawState(state, here)),
    ...chartEdges(serverMachine).map(drawEdge),
    '</svg>',
    '',
  ].join('\n');
}

const somewhere = [800, 480, 110, 40] as const;
const dashed = ' stroke-dasharray="4"';

function drawState(state: ChartState, here: string | undefined): string {
  const [x, y, width, height] = boxes[state.path] ?? somewhere;
  const isHere = state.path === here;
  const holdsHere = here?.startsWith(`${state.path}.`) ?? false;
  const fill = isHere ? '#1f6feb' : state.parent || state.final ? '#f6f8fa' : '#ffffff';
  const stroke = isHere || holdsHere ? '#0b3d91' : '#8c959f';
  const titleY = state.children.length > 0 ? y + 18 : y + height / 2 + 4;
  return (
    `<g data-state="${state.path}"><rect x="${x}" y="${y}" width="${width}" height="${height}" rx="8" fill="${fill}" ` +
    `stroke="${stroke}" stroke-width="${isHere || holdsHere || state.final ? 2.5 : 1.2}"${boxes[state.path] ? '' : dashed}/>` +
    `<text x="${x + width / 2}" y="${titleY}" text-anchor="middle" font-size="13" font-weight="bold" ` +
    `fill="${isHere ? '#ffffff' : '#1f2328'}">${state.name}</text></g>`
  );
}

function drawEdge({ source, target, labels }: ChartEdge): string {
  const route = routes[`${source}>${target}`];
  const [corners, x, y] = route ?? straight(source, target);
  const lines = labels.map((text, line) => `<tspan x="${x}" y="${y + 13 * line}">${text}</tspan>`);
  return (
    `<polyline points="${corners}" fill="none" stroke="#57606a" marker-end="url(#tip)"${route ? '' : dashed}/>` +
    `<text fill="#57606a">${lines.join('')}</text>`
  );
}

function straight(source: string, target: string): Route {
  const [[x1, y1], [x2, y2]] = [boxes[source] ?? somewhere, boxes[target] ?? somewhere];
  return [`${x1},${y1} ${x2},${y2}`, (x1 + x2) / 2, (y1 + y2) / 2];
}
