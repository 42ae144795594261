import { truncate } from './text.js';

const LONGEST = 80;

/** As much of a description as fits into a table. */
export function firstLine(text: string | null): string {
  return truncate((text ?? '').split('\n').find((part) => part.trim() !== '') ?? '', LONGEST);
}
