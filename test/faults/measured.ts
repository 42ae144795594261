import { appendFileSync } from 'node:fs';
import { expect } from 'vitest';

/**
 * What was measured, for those who asked (`npm run faults`). It begins with the row it is about, `S7: …`; the file in
 * TOOLHERD_MEASURED collects it for docs/RELIABILITY.md.
 */
export function measured(text: string): void {
  if (!process.env.TOOLHERD_LONG) return;
  console.log(text);
  const file = process.env.TOOLHERD_MEASURED;
  if (file) appendFileSync(file, `${JSON.stringify({ test: expect.getState().testPath, text })}\n`);
}

export const mebibytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;
/** Whole milliseconds. */
export const millis = (ms: number) => `${Math.round(ms)} ms`;
/** How often each kind was seen: `400: 10,355, 404: 1,528`. */
export const counts = (seen: ReadonlyMap<unknown, number>) =>
  [...seen].map(([kind, count]) => `${kind}: ${count.toLocaleString('en-US')}`).join(', ');
