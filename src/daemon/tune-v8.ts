import { setFlagsFromString } from 'node:v8';

/**
 * So much work, counted in bytes of bytecode, makes V8 compile a function for speed. Its own figure is eight times this:
 * a call would cost five times as much until some eight thousand were made, and many a daemon never sees so many.
 */
const WORK_UNTIL_FAST = 8000;
/** From here on V8 has a quick compiler between its slow code and its fast one, and no such flag. */
const FIRST_WITHOUT = 22;

/** What only a beginning needs is not worth it: compiling it took a tenth of the start of a herd (20 servers, 2 cores). */
const BEGINNING_MS = 1000;

/** For a process that lives long, when it has begun. */
export function tuneV8(): void {
  if (Number.parseInt(process.versions.node, 10) >= FIRST_WITHOUT) return;
  setTimeout(() => setFlagsFromString(`--interrupt-budget=${WORK_UNTIL_FAST}`), BEGINNING_MS).unref();
}
