import { setFlagsFromString } from 'node:v8';

/**
 * So much work, counted in bytes of bytecode, makes V8 compile a function for speed. Its own figure is eight times this:
 * a call would cost five times as much until some eight thousand were made, and many a daemon never sees so many.
 */
const WORK_UNTIL_FAST = 8000;
/** From here on V8 has a quick compiler between its slow code and its fast one, and no such flag. */
const FIRST_WITHOUT = 22;

/** For a process that lives long. To be called when it has begun: what only a beginning needs is not worth it. */
export function compileSooner(): void {
  if (Number.parseInt(process.versions.node, 10) >= FIRST_WITHOUT) return;
  setFlagsFromString(`--interrupt-budget=${WORK_UNTIL_FAST}`);
}
