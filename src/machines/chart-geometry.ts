export type Point = [x: number, y: number];

export interface Box {
  /** The left and the top. */
  x: number;
  y: number;
  width: number;
  height: number;
}

const RADIUS = 8;

/** The `d` of an SVG path along these points, with round corners. */
export function roundedLine(points: readonly Point[]): string {
  const [first = [0, 0], ...rest] = points;
  const parts = rest.map((point, index) => {
    const next = rest[index + 1];
    if (next === undefined) return `L${pair(point)}`;
    const before = points[index]!;
    const radius = Math.min(RADIUS, distance(before, point) / 2, distance(point, next) / 2);
    return `L${pair(towards(point, before, radius))}Q${pair(point)} ${pair(towards(point, next, radius))}`;
  });
  return `M${pair(first)}${parts.join('')}`;
}

/** The point at this distance from the first one, on the way to the other. */
function towards([x1, y1]: Point, [x2, y2]: Point, by: number): Point {
  const part = by / (distance([x1, y1], [x2, y2]) || 1);
  return [x1 + (x2 - x1) * part, y1 + (y2 - y1) * part];
}

function distance([x1, y1]: Point, [x2, y2]: Point): number {
  return Math.hypot(x2 - x1, y2 - y1);
}

function pair(point: Point): string {
  return roundPoint(point).join(' ');
}

export function isInside([x, y]: Point, box: Box): boolean {
  return x > box.x && x < box.x + box.width && y > box.y && y < box.y + box.height;
}

/** Whether the straight line between two points passes through the box. */
export function crosses([x1, y1]: Point, [x2, y2]: Point, box: Box): boolean {
  const steps = Array.from({ length: 41 }, (_, step) => step / 40);
  return steps.some((part) => isInside([x1 + part * (x2 - x1), y1 + part * (y2 - y1)], box));
}

/** The box of a node, of which dagre gives the middle. */
export function boxOf({ x, y, width, height }: Box): Box {
  return { x: x - width / 2, y: y - height / 2, width, height };
}

export function roundPoint([x, y]: Point): Point {
  return [round(x), round(y)];
}

export function roundBox({ x, y, width, height }: Box): Box {
  return { x: round(x), y: round(y), width: round(width), height: round(height) };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
