/** How the daemon begins its messages; whoever else writes them gets them passed on all the same. */
const HEAD = Buffer.from('{"jsonrpc":"2.0","id":');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

const KINDS = [
  [',"result":', 'reply'],
  [',"error":', 'failure'],
  [',"method":', 'request'],
] as const;

export interface Head {
  kind: 'reply' | 'failure' | 'request';
  /** Its JSON text. */
  id: string;
}

/** What a line of the daemon is, from its first bytes alone: a result may have megabytes. */
export function headOf(line: Buffer): Head | undefined {
  if (!line.subarray(0, HEAD.length).equals(HEAD)) return undefined;
  const end = endOfId(line, HEAD.length);
  if (end === -1) return undefined;
  const next = line.toString('latin1', end, end + 10);
  const kind = KINDS.find(([key]) => next.startsWith(key))?.[1];
  return kind && { kind, id: line.toString('utf8', HEAD.length, end) };
}

function endOfId(line: Buffer, start: number): number {
  if (line[start] !== QUOTE) return line.indexOf(COMMA, start);
  for (let at = start + 1; at < line.length; at += 1) {
    if (line[at] === BACKSLASH) at += 1;
    else if (line[at] === QUOTE) return at + 1;
  }
  return -1;
}
