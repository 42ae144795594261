/**
 * Gives every state, arrow and label of a machine its place, with dagre. No position is written by hand.
 *
 * dagre puts states into ranks from top to bottom, in the order of the definition as far as arrows allow. It draws no
 * arrow of a state that holds others. So each of these gets two hidden nodes, above and below what it holds: its arrows
 * are laid out from there, and cut at its border. dagre's own lines run slantwise through labels of the same rank. So
 * only the places of their bends are kept: a line crosses a rank vertically, and slants in the gap between two ranks.
 */
import { Graph, layout } from '@dagrejs/dagre';
import type { AnyStateMachine } from 'xstate';
import type { ChartDrawing, DrawnEdge } from './chart-drawing.js';
import { type ChartEdge, type ChartState, chartEdges, chartStates, initialOf } from './chart-edges.js';
import {
  type Box,
  boxOf,
  crosses,
  isInside,
  type Point,
  roundBox,
  roundedLine,
  roundPoint,
} from './chart-geometry.js';

/** In px. The advance of a monospaced font is 0.6 of its size; some have a little more. */
export const LABEL = { size: 11, lineHeight: 14, character: 6.7 } as const;
export const NAME = { size: 13, character: 8 } as const;

const STATE = { height: 34, padding: 16, leastWidth: 84 } as const;
/** For the name of a state that holds others. */
const HEADER = { height: 16, padding: 12 } as const;
const MARGIN = 16;
const GAPS = { nodesep: 24, edgesep: 16, ranksep: 56, marginx: MARGIN, marginy: MARGIN } as const;
/** Lines leave and reach the border of a state vertically, at least for this long. */
const STUB = 10;
/** An arrow from a state back to itself: its lines are this far from the middle of the state, and this long. */
const LOOP = { off: 9, length: 18 } as const;

interface Route extends ChartEdge {
  key: { v: string; w: string; name: string };
  /** It runs upwards: dagre has it the other way round. */
  isReversed: boolean;
}

/** `machine`: one without parallel states. */
export function layOutChart(machine: AnyStateMachine): ChartDrawing {
  const outermost = chartStates(machine);
  const all = outermost.flatMap((state) => [state, ...state.children]);
  const order = new Map(all.map(({ path }, index) => [path, index]));
  const graph = new Graph({ compound: true, multigraph: true });
  graph.setGraph({ rankdir: 'TB', ...GAPS });
  for (const state of all) addState(graph, state);
  const byPath = new Map(all.map((state) => [state.path, state]));
  const routes = chartEdges(machine).map((edge, index): Route => {
    const isReversed = order.get(edge.source)! > order.get(edge.target)!;
    const [upper, lower] = isReversed ? [edge.target, edge.source] : [edge.source, edge.target];
    const key = { v: exit(byPath.get(upper!)!), w: entry(byPath.get(lower!)!), name: String(index) };
    graph.setEdge(key, { ...labelSize(edge.labels), labelpos: 'c' });
    return { ...edge, key, isReversed };
  });
  for (const state of outermost) if (state.children.length > 0) enclose(graph, state, routes);
  for (const { source, target, isReversed } of routes) {
    const [upper, lower] = [byPath.get(outerOf(source))!, byPath.get(target)!];
    // a state that is reached from within another one stands below all of it
    if (upper.path !== source && lower.children.length > 0 && !isReversed)
      graph.setEdge(exit(upper), entry(lower), {});
  }
  layout(graph);
  return drawingOf(graph, all, routes, initialOf(machine.root));
}

function addState(graph: Graph, state: ChartState): void {
  const { path, name, parent, children } = state;
  if (parent !== undefined) graph.setParent(path, parent);
  if (children.length === 0) {
    const width = Math.max(STATE.leastWidth, name.length * NAME.character + 2 * STATE.padding);
    graph.setNode(path, { width, height: STATE.height });
    return;
  }
  graph.setNode(path, {});
  graph.setNode(above(path), {
    width: name.length * NAME.character + 2 * HEADER.padding,
    height: HEADER.height,
  });
  graph.setNode(below(path), { width: 1, height: 1 });
  graph.setParent(above(path), path);
  graph.setParent(below(path), path);
}

/** Keeps the two hidden nodes of a state above and below all that it holds. */
function enclose(graph: Graph, { path, children }: ChartState, routes: readonly Route[]): void {
  const inner = routes.filter(
    ({ source, target }) => source !== target && isIn(path, source) && isIn(path, target),
  );
  for (const child of children) {
    const has = (end: 'v' | 'w') => inner.some(({ key }) => key[end] === child.path);
    if (!has('w')) graph.setEdge(above(path), child.path, {});
    if (!has('v')) graph.setEdge(child.path, below(path), {});
  }
}

const isIn = (outer: string, path: string) => path.startsWith(`${outer}.`);
const above = (path: string) => `${path}.(above)`;
const below = (path: string) => `${path}.(below)`;

const outerOf = (path: string) => path.split('.')[0] ?? '';

function exit({ path, children }: ChartState): string {
  return children.length > 0 ? below(path) : path;
}

function entry({ path, children }: ChartState): string {
  return children.length > 0 ? above(path) : path;
}

function labelSize(labels: readonly string[]): { width: number; height: number } {
  const longest = Math.max(...labels.map((label) => label.length));
  return { width: longest * LABEL.character + 8, height: labels.length * LABEL.lineHeight + 4 };
}

/** The places that dagre found, as a drawing. */
function drawingOf(
  graph: Graph,
  all: readonly ChartState[],
  routes: readonly Route[],
  first: string,
): ChartDrawing {
  const boxes = new Map(all.map(({ path }) => [path, boxOf(graph.node(path))]));
  const initial = new Set([first, ...all.map((state) => state.initial)]);
  const ranks = new Ranks(graph);
  const outer = all.filter(({ children }) => children.length > 0).map(({ path }) => path);
  const lines = routes.map((route) => {
    const foreign = outer.filter(
      (path) => ![route.source, route.target].some((end) => isIn(path, `${end}.`)),
    );
    const isFree = (a: Point, b: Point) => !foreign.some((path) => crosses(a, b, boxes.get(path)!));
    return { route, bends: ranks.withoutDetours(bendsOf(graph, route, boxes), isFree) };
  });
  const ports = new Ports(boxes, all, lines);
  const edges = lines.map(({ route, bends }): DrawnEdge => {
    const label = graph.edge(route.key) as Box;
    const isLoop = route.source === route.target;
    const box = boxes.get(route.source)!;
    const points = isLoop
      ? loop(box)
      : ranks.straighten([ports.at(route, 'upper'), ...bends, ports.at(route, 'lower')]);
    const way = (route.isReversed ? points.reverse() : points).map(roundPoint);
    const [x, y] = roundPoint(isLoop ? besideLoop(box, label) : pointOf(label));
    return {
      from: route.source,
      to: route.target,
      label: route.labels.join('\n'),
      points: way,
      path: roundedLine(way),
      labelAt: { x, y },
    };
  });
  const states = all.map(({ path, name, parent = null, final, children }) => {
    const box = roundBox(boxes.get(path)!);
    const [x, y] = roundPoint(pointOf(graph.node(children.length > 0 ? above(path) : path)));
    return { id: path, label: name, ...box, labelAt: { x, y }, parent, initial: initial.has(path), final };
  });
  const { width, height } = graph.graph() as { width: number; height: number };
  return { width: Math.ceil(width), height: Math.ceil(height), states, edges };
}

type Lines = readonly { route: Route; bends: readonly Point[] }[];

/** Where a line bends, from top to bottom. The parts of it within a state whose border it ends at are left out. */
function bendsOf(graph: Graph, { key, source, target }: Route, boxes: ReadonlyMap<string, Box>): Point[] {
  const { points } = graph.edge(key) as { points: { x: number; y: number }[] };
  const ends = [boxes.get(source)!, boxes.get(target)!];
  return points
    .slice(1, -1)
    .map(pointOf)
    .filter((point) => !ends.some((box) => isInside(point, box)));
}

/** Where lines begin and end: side by side along the lower and the upper border of a state, in the order of their ways. */
class Ports {
  readonly #places = new Map<Route, { upper?: Point; lower?: Point }>();

  constructor(boxes: ReadonlyMap<string, Box>, states: readonly ChartState[], lines: Lines) {
    for (const { path, children } of states) {
      const box = boxes.get(path)!;
      for (const end of ['upper', 'lower'] as const) {
        const y = end === 'upper' ? box.y + box.height : box.y;
        const here = lines
          .filter(({ route }) => route.source !== route.target && pathAt(route, end) === path)
          .map(({ route, bends }) => ({
            route,
            x: bends.at(end === 'upper' ? 0 : -1)?.[0] ?? box.x + box.width / 2,
          }))
          .sort((a, b) => a.x - b.x);
        here.forEach(({ route, x }, index) => {
          const spread = box.x + (box.width * (index + 1)) / (here.length + 1);
          // a line leaves a large state where it runs anyway
          const port: Point = [children.length > 0 ? between(x, box) : spread, y];
          this.#places.set(route, { ...this.#places.get(route), [end]: port });
        });
      }
    }
  }

  at(route: Route, end: 'upper' | 'lower'): Point {
    return this.#places.get(route)?.[end] ?? [0, 0];
  }
}

function pathAt({ source, target, isReversed }: Route, end: 'upper' | 'lower'): string {
  return (end === 'upper') === isReversed ? target : source;
}

/** The heights of the ranks, by their middles. */
class Ranks {
  readonly #halves: [y: number, half: number][];

  constructor(graph: Graph) {
    // the package's types lead nowhere under nodenext, so that TypeScript sees `any`
    const paths: string[] = graph.nodes().filter((path: string) => graph.children(path).length === 0);
    const keys: object[] = graph.edges();
    const all: Partial<Box>[] = [
      ...paths.map((path) => graph.node(path)),
      ...keys.map((key) => graph.edge(key)),
    ];
    this.#halves = all.map(({ y = 0, height = 0 }) => [y, height / 2]);
  }

  /** Without bends in ranks that hold nothing (those of the borders of states), where the line may go straight on. */
  withoutDetours(bends: readonly Point[], isFree: (a: Point, b: Point) => boolean): Point[] {
    const kept: Point[] = [];
    bends.forEach((bend, index) => {
      const [before, after] = [kept.at(-1), bends[index + 1]];
      const isNeeded =
        this.#halfAt(bend[1]) > 1 || before === undefined || after === undefined || !isFree(before, after);
      if (isNeeded) kept.push(bend);
    });
    return kept;
  }

  /** From the upper port to the lower one: vertical within each rank. */
  straighten([first, ...rest]: readonly Point[]): Point[] {
    const last = rest.at(-1)!;
    const bends = rest.slice(0, -1).flatMap(([x, y]): Point[] => {
      const half = this.#halfAt(y);
      return [
        [x, y - half],
        [x, y + half],
      ];
    });
    const [x, y] = first!;
    const lower: Point = [x, this.#edgeOf(y, 1) + STUB];
    const upper: Point = [last[0], this.#edgeOf(last[1], -1) - STUB];
    return withoutNeedless([first!, lower, ...bends, upper, last]);
  }

  #halfAt(y: number): number {
    return Math.max(
      0,
      ...this.#halves.filter(([middle]) => Math.abs(middle - y) < 0.5).map(([, half]) => half),
    );
  }

  /** The lower (1) or upper (-1) end of the rank of a state whose border is here. A taller label may stand beside it. */
  #edgeOf(y: number, side: 1 | -1): number {
    const own = this.#halves.find(([middle, half]) => Math.abs(middle + side * half - y) < 0.5);
    return own === undefined ? y : own[0] + side * this.#halfAt(own[0]);
  }
}

/** Without points on the straight line between their neighbours. */
function withoutNeedless(points: readonly Point[]): Point[] {
  const isNeedless = (point: Point, index: number) => {
    const [before, after] = [points[index - 1], points[index + 1]];
    return before !== undefined && after !== undefined && before[0] === point[0] && after[0] === point[0];
  };
  return points.filter((point, index) => !isNeedless(point, index));
}

function loop({ x, y, width, height }: Box): Point[] {
  const [right, middle] = [x + width, y + height / 2];
  return [
    [right, middle - LOOP.off],
    [right + LOOP.length, middle - LOOP.off],
    [right + LOOP.length, middle + LOOP.off],
    [right, middle + LOOP.off],
  ];
}

/** dagre keeps the room between a state and the label of its loop free. */
function besideLoop({ x, y, width, height }: Box, label: Box): Point {
  return [x + width + LOOP.length + label.width / 2, y + height / 2];
}

function between(x: number, box: Box): number {
  return Math.min(Math.max(x, box.x + 2 * STATE.padding), box.x + box.width - 2 * STATE.padding);
}

const pointOf = ({ x, y }: { x: number; y: number }): Point => [x, y];
