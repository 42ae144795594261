import type { Setting } from '../support.js';

/** A definition that must be refused. `‸` marks the position of the problem and is removed before the load. */
export interface Malformed extends Pick<Setting, 'files' | 'env'> {
  name: string;
  /** The text of agent.yaml, or of config.yaml. */
  agent?: string;
  config?: string;
  path: string;
  /** A part of the message. */
  says: string;
  /** A part of the fix, when it matters. */
  fix?: string;
}

export const MARK = '‸';

/** Removes the mark and returns its position. */
export function unmark(text: string): { text: string; line: number; column: number } {
  const [before, after, ...more] = text.split(MARK);
  if (before === undefined || after === undefined || more.length > 0) throw new Error('one mark is needed');
  const lines = before.split('\n');
  return { text: before + after, line: lines.length, column: lines.at(-1)!.length + 1 };
}
