import { setFlagsFromString } from 'node:v8';

/**
 * After so much work, in bytes of bytecode, V8 optimises a function. V8's default is eight times this: a call would cost
 * five times as much until some eight thousand were made, and many daemons never see so many.
 */
const INTERRUPT_BUDGET = 8000;
/** From this version of Node on, V8 has a fast baseline compiler, and not this flag. */
const FIRST_WITHOUT = 22;

/** The flag is set after the start: to optimise code of the start took a tenth of its time (20 servers, 2 cores). */
const START_MS = 1000;

/** For a process that lives long. */
export function tuneV8(): void {
  if (Number.parseInt(process.versions.node, 10) >= FIRST_WITHOUT) return;
  setTimeout(() => setFlagsFromString(`--interrupt-budget=${INTERRUPT_BUDGET}`), START_MS).unref();
}
