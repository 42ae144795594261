/**
 * The ids of replies in a line that cannot be parsed: one that was too long to keep, or one with noise glued to it.
 * Whoever waits for such a reply is told at once instead of at the timeout.
 *
 * Only the two usual spellings are read: the id in front (`{"jsonrpc":"2.0","id":7,"result":…`) and the id at the end
 * (`{"result":…,"jsonrpc":"2.0","id":7}`, as the TypeScript SDK writes it). A request that a server echoes into its
 * output has `"method"` in that place and is left alone.
 */
export function replyIds(head: Buffer, tail: Buffer): number[] {
  const start = head.toString('latin1');
  const end = tail.toString('latin1');
  const ids = new Set<number>();
  for (const text of [start, end]) {
    for (const match of text.matchAll(ID_IN_FRONT)) ids.add(Number(match[1]));
  }
  const last = ID_AT_END.exec(end);
  if (last !== null && RESULT_IN_FRONT.test(start)) ids.add(Number(last[1]));
  return [...ids];
}

const VERSION = String.raw`"jsonrpc"\s*:\s*"2\.0"\s*`;
const ID = String.raw`"id"\s*:\s*(\d{1,16})\s*`;
const ID_IN_FRONT = new RegExp(
  String.raw`\{\s*(?:${VERSION},\s*)?${ID},\s*(?:${VERSION},\s*)?"(?:result|error)"\s*:`,
  'g',
);
const RESULT_IN_FRONT = new RegExp(String.raw`\{\s*(?:${VERSION},\s*)?"(?:result|error)"\s*:`);
const ID_AT_END = new RegExp(String.raw`,\s*${ID}(?:,\s*${VERSION})?\}\s*$`);
