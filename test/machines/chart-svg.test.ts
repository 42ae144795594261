import { describe, expect, test } from 'vitest';
import type { ChartDrawing, DrawnState } from '../../src/machines/chart-drawing.js';
import { chartEdges, chartStates } from '../../src/machines/chart-edges.js';
import { drawCharts } from '../../src/machines/charts.js';
import {
  chartSvg,
  drawnEdge,
  drawnState,
  keeperMachine,
  layOutChart,
  serverMachine,
  serverSvg,
  transientMachine,
} from '../../src/machines/index.js';

const MACHINES = { server: serverMachine, keeper: keeperMachine, transient: transientMachine };
const NAMES = Object.keys(MACHINES) as (keyof typeof MACHINES)[];
const charts = drawCharts();

interface Area {
  what: string;
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Monospace at 11 px: a character is 6.6 px wide, a line 14 px high. */
function labels({ edges }: ChartDrawing): Area[] {
  return edges.map(({ from, to, label, labelAt: { x, y } }) => {
    const lines = label.split('\n');
    const half = (Math.max(...lines.map((line) => line.length)) * 6.6) / 2;
    const high = lines.length * 7;
    return {
      what: `label of ${from}>${to}`,
      left: x - half,
      top: y - high,
      right: x + half,
      bottom: y + high,
    };
  });
}

function areaOf({ id, x, y, width, height }: DrawnState): Area {
  return { what: id, left: x, top: y, right: x + width, bottom: y + height };
}

/** States that hold no other: no line and no label may cover one. */
function plainStates({ states }: ChartDrawing): Area[] {
  return states.filter(({ id }) => !states.some(({ parent }) => parent === id)).map(areaOf);
}

/** The names of states that hold others. */
function headers({ states }: ChartDrawing): Area[] {
  return states
    .filter(({ id }) => states.some(({ parent }) => parent === id))
    .map(({ id, label, labelAt: { x, y } }) => {
      const half = (label.length * 7.8) / 2;
      return { what: `name of ${id}`, left: x - half, top: y - 7, right: x + half, bottom: y + 7 };
    });
}

function covers(a: Area, b: Area): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

/** Whether a straight line passes through the area, and not only along its border. */
function crosses([x1, y1]: number[], [x2, y2]: number[], { left, top, right, bottom }: Area): boolean {
  return Array.from({ length: 201 }, (_, step) => step / 200).some((part) => {
    const [x, y] = [x1! + part * (x2! - x1!), y1! + part * (y2! - y1!)];
    return x > left + 0.5 && x < right - 0.5 && y > top + 0.5 && y < bottom - 0.5;
  });
}

function crossedBy({ edges }: ChartDrawing, areas: readonly Area[]): string[] {
  return edges.flatMap(({ from, to, points }) =>
    points.slice(1).flatMap((point, index) =>
      areas
        .filter(({ what }) => what !== `label of ${from}>${to}`)
        .filter((area) => crosses(points[index]!, point, area))
        .map(({ what }) => `${from}>${to} crosses ${what}`),
    ),
  );
}

describe.each(NAMES)('the picture of the %s machine', (name) => {
  const drawing = charts[name];

  test('every state and every arrow has a place, under the names that status and journal use', () => {
    const paths = chartStates(MACHINES[name]).flatMap(({ path, children }) => [
      path,
      ...children.map((one) => one.path),
    ]);
    expect(drawing.states.map(({ id }) => id)).toEqual(paths);
    expect(
      drawing.edges.map(({ from, to, label }) => ({ source: from, target: to, labels: label.split('\n') })),
    ).toEqual(chartEdges(MACHINES[name]));
    expect(drawing.states.filter(({ initial, parent }) => initial && parent === null)).toHaveLength(1);
  });

  test('everything is inside the picture, and each state inside the one around it', () => {
    const whole = { what: 'picture', left: 0, top: 0, right: drawing.width, bottom: drawing.height };
    const byId = new Map(drawing.states.map((state) => [state.id, areaOf(state)]));
    const pairs = [
      ...[...labels(drawing), ...byId.values()].map((area) => [area, whole] as const),
      ...drawing.states
        .filter(({ parent }) => parent !== null)
        .map((s) => [areaOf(s), byId.get(s.parent!)!] as const),
    ];
    const outside = pairs.filter(
      ([a, b]) => a.left < b.left || a.top < b.top || a.right > b.right || a.bottom > b.bottom,
    );
    expect(outside.map(([area]) => area.what)).toEqual([]);
    expect(
      drawing.edges
        .flatMap(({ points }) => points)
        .filter(([x, y]) => x < 0 || y < 0 || x > drawing.width || y > drawing.height),
    ).toEqual([]);
  });

  test('no state, name or label covers another', () => {
    const areas = [...plainStates(drawing), ...headers(drawing), ...labels(drawing)];
    const clashes = areas.flatMap((area, index) =>
      areas
        .slice(index + 1)
        .filter((other) => covers(area, other))
        .map((other) => `${area.what} / ${other.what}`),
    );
    expect(clashes).toEqual([]);
  });

  test('no arrow passes through a state, the name of a state or the label of another arrow', () => {
    expect(crossedBy(drawing, [...plainStates(drawing), ...headers(drawing), ...labels(drawing)])).toEqual(
      [],
    );
  });

  test('no arrow passes through a state that it neither leaves nor reaches nor is in', () => {
    const outer = drawing.states.filter(({ id }) => drawing.states.some(({ parent }) => parent === id));
    const wrong = drawing.edges.flatMap((edge) => {
      const foreign = outer.filter(
        ({ id }) => ![edge.from, edge.to].some((end) => `${end}.`.startsWith(`${id}.`)),
      );
      return crossedBy({ ...drawing, edges: [edge] }, foreign.map(areaOf));
    });
    expect(wrong).toEqual([]);
  });

  test('an arrow begins and ends at the border of its states, and runs through its label', () => {
    const byId = new Map(drawing.states.map((state) => [state.id, areaOf(state)]));
    const isAtBorder = ([x, y]: number[], { left, top, right, bottom }: Area) =>
      Math.min(Math.abs(x! - left), Math.abs(x! - right), Math.abs(y! - top), Math.abs(y! - bottom)) < 0.2;
    for (const [index, { from, to, points }] of drawing.edges.entries()) {
      const what = `${from}>${to}`;
      expect([
        what,
        isAtBorder(points[0]!, byId.get(from)!),
        isAtBorder(points.at(-1)!, byId.get(to)!),
      ]).toEqual([what, true, true]);
      const own = labels(drawing)[index]!;
      if (from !== to)
        expect([what, points.slice(1).some((point, i) => crosses(points[i]!, point, own))]).toEqual([
          what,
          true,
        ]);
    }
  });
});

describe('what a picture marks', () => {
  const classes = (svg: string, mark: string) =>
    [...svg.matchAll(/<g class="([^"]*)" data-state="([^"]+)"/g)]
      .filter(([, names = '']) => names.split(' ').includes(mark))
      .map(([, , state]) => state);

  test('the present state is marked at any depth, and no other', () => {
    expect(classes(serverSvg({ connected: 'serving' }), 'present')).toEqual(['connected.serving']);
    expect(classes(serverSvg({ connected: 'serving' }), 'around')).toEqual(['connected']);
    expect(classes(serverSvg({ connected: { closing: 'killing' } }), 'present')).toEqual([
      'connected.closing',
    ]);
    expect(classes(serverSvg('error'), 'present')).toEqual(['error']);
    expect(classes(serverSvg(), 'present')).toEqual([]);
    expect(drawnState(charts.server, 'connected.closing.killing')?.id).toBe('connected.closing');
    expect(drawnState(charts.server, 'nowhere')).toBeUndefined();
  });

  test('the arrow of the last transition is that of its event, also where a state around it has the arrow', () => {
    const edge = (from: string, to: string, event: string) => {
      const found = drawnEdge(charts.server, { from, to, event });
      return found && `${found.from}>${found.to}`;
    };
    expect(edge('connected.serving', 'connected.closing.asking', 'stop')).toBe(
      'connected.serving>connected.closing',
    );
    expect(edge('connecting.opening', 'connected.discovering', 'link.opened')).toBe(
      'connecting.opening>connected',
    );
    expect(edge('connected.serving', 'error', 'link.exited')).toBe('connected>error');
    expect(edge('connected.closing.asking', 'error', 'link.exited')).toBe('connected.closing>error');
    expect(edge('connected.serving', 'disconnected', 'link.exited')).toBe('connected>disconnected');
    expect(edge('disconnected', 'created', 'xstate.init')).toBeUndefined();
    const last = { from: 'connected.serving', to: 'error', event: 'link.exited' };
    const svg = chartSvg(layOutChart(serverMachine), 'a', { present: 'error', last });
    expect(
      [...svg.matchAll(/class="edge last" data-from="(.+?)" data-to="(.+?)"/g)].map(([, a, b]) => [a, b]),
    ).toEqual([['connected', 'error']]);
  });

  test('it stands alone: one root, all closed, nothing fetched, readable in dark and light', () => {
    const svg = chartSvg(charts.server, '<b> & "c"', { present: 'created' });
    expect(svg.startsWith('<svg xmlns="http://www.w3.org/2000/svg"')).toBe(true);
    expect(svg).not.toMatch(/href|<script|@import|url\((?!#)/);
    expect(svg).toContain('prefers-color-scheme: dark');
    const open: string[] = [];
    for (const [, closing, name, selfClosing] of svg.matchAll(/<(\/?)([a-z]+)[^>]*?(\/?)>/g)) {
      if (closing) expect(open.pop()).toBe(name);
      else if (!selfClosing) open.push(name ?? '');
    }
    expect(open).toEqual([]);
    expect(svg).not.toMatch(/&(?!amp;|lt;|gt;|quot;)/);
  });
});
