import { nextTurn } from '../shared/async.js';
import { readTail } from './read-log.js';

/** How often a tool was called with success. */
interface CalledTool {
  server: string;
  tool: string;
  count: number;
}

/** About 10,000 records, which take 55 ms of processor time (Node 20.20, 2026-11-18). */
const MOST_BYTES = 4 * 2 ** 20;
/** Records of one slice, 3 ms: calls pass between slices. */
const SLICE = 500;

/** Which tools were called before this time (in ms since 1970), by the newest records of the audit file. */
export async function readCalledTools(path: string, before: number): Promise<CalledTool[]> {
  const newest = await readTail(path, MOST_BYTES);
  // the file may have been rotated a moment ago
  const older = await readTail(`${path}.1`, MOST_BYTES - newest.length);
  const called = new Map<string, CalledTool>();
  const lines = [older, newest].flatMap((bytes) => bytes.toString().split('\n'));
  for (const [at, line] of lines.entries()) {
    if (at % SLICE === SLICE - 1) await nextTurn();
    const one = calledTool(line, before);
    if (one === undefined) continue;
    const key = `${one.server}\0${one.tool}`;
    const known = called.get(key);
    if (known === undefined) called.set(key, { ...one, count: 1 });
    else known.count += 1;
  }
  return [...called.values()];
}

/** Undefined for a record of anything else, and for a line that is not whole. */
function calledTool(line: string, before: number): Pick<CalledTool, 'server' | 'tool'> | undefined {
  try {
    const { server, method, tool, ok, at } = JSON.parse(line) as Record<string, unknown>;
    const isBefore = Date.parse(String(at)) < before;
    if (method !== 'tools/call' || ok !== true || !isBefore) return undefined;
    return typeof server === 'string' && typeof tool === 'string' ? { server, tool } : undefined;
  } catch {
    return undefined;
  }
}
