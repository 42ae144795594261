import type { JsonObject } from '../../shared/json.js';

const RESULT_FIRST = '{"result":';
const MEMBERS = 3;

/**
 * The text of a reply's result, cut out of the line that holds it; undefined where it does not stand in one of the two
 * orders that servers write. For a line that was parsed and has one `id`: what is cut out is the result then, or two of
 * them, which is between the server and its caller.
 */
export function resultSource(line: string, reply: JsonObject): string | undefined {
  const { id } = reply;
  // a message of a WebSocket may be several lines, a reply of ours is one, for whoever ends lines with a return as well
  if (Object.keys(reply).length !== MEMBERS || line.includes('\n') || line.includes('\r')) return undefined;
  const head = `{"jsonrpc":"2.0","id":${id},"result":`;
  if (line.startsWith(head) && line.endsWith('}')) return line.slice(head.length, -1);
  const tail = `,"jsonrpc":"2.0","id":${id}}`;
  if (line.startsWith(RESULT_FIRST) && line.endsWith(tail)) {
    return line.slice(RESULT_FIRST.length, -tail.length);
  }
  return undefined;
}
