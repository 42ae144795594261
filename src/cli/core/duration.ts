import { UsageError } from './command.js';

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** `30s`, `500ms`, `2m`; a bare number is seconds. */
export function parseDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text);
  if (match === null) throw new UsageError(`'${text}' is no duration`, 'write for example 30s, 500ms or 2m');
  return Number(match[1]) * UNITS[match[2] ?? 's']!;
}
