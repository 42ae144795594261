/** A statechart with a place for everything: what `layOutChart` makes, and what pictures of it are drawn from. */
export interface ChartDrawing {
  width: number;
  height: number;
  /** A state that holds others comes before them. */
  states: DrawnState[];
  edges: DrawnEdge[];
}

export interface DrawnState {
  /** `connected.serving` */
  id: string;
  label: string;
  /** The left and the top. */
  x: number;
  y: number;
  width: number;
  height: number;
  /** The middle of the label. */
  labelAt: { x: number; y: number };
  /** The id of the state that it is in. */
  parent: string | null;
  /** What it is in begins here. */
  initial: boolean;
  final: boolean;
}

export interface DrawnEdge {
  /** Ids of states. */
  from: string;
  to: string;
  /** What takes it, each with its guard, one a line. */
  label: string;
  /** From the border of a state to the border of a state. */
  points: [x: number, y: number][];
  /** The same with round corners: the `d` of an SVG path. */
  path: string;
  /** The middle of the label. */
  labelAt: { x: number; y: number };
}

/** A transition as a journal has it. */
interface Taken {
  from: string;
  to: string;
  event: string;
}

/** The drawn state for a full name: a picture shows two levels, and `connected.closing.asking` is in `connected.closing`. */
export function drawnState({ states }: ChartDrawing, name: string): DrawnState | undefined {
  const ids = pathsAround(name);
  return ids.map((id) => states.find((state) => state.id === id)).find((state) => state !== undefined);
}

/** The edge that a transition took. An edge of a state around it counts too; undefined where the picture has none. */
export function drawnEdge({ edges }: ChartDrawing, { from, to, event }: Taken): DrawnEdge | undefined {
  const [sources, targets] = [pathsAround(from), pathsAround(to)];
  const candidates = sources
    .flatMap((source) => targets.map((target) => ({ source, target })))
    .flatMap(({ source, target }) => edges.filter((edge) => edge.from === source && edge.to === target));
  const isFor = ({ label }: DrawnEdge) =>
    label.split('\n').some((line) => line === event || line.startsWith(`${event} [`));
  return candidates.find(isFor) ?? candidates[0];
}

/** `a.b.c` → `a.b.c`, `a.b`, `a`. */
function pathsAround(name: string): string[] {
  const keys = name.split('.');
  return keys.map((_, index) => keys.slice(0, keys.length - index).join('.'));
}
