import { hideInFile } from '../../shared/hide-secrets.js';

const CONTEXT = 3;

/** One change of a text as `diff -u` would show it, without the secrets in it. */
export function lineDiff(file: string, before: string, after: string): string {
  const [old, now] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let same = 0;
  while (same < Math.min(old.length, now.length) - start && old.at(-1 - same) === now.at(-1 - same)) same++;
  const first = Math.max(0, start - CONTEXT);
  const below = Math.min(same, CONTEXT);
  const lines = [
    ...shown(old, first, start).map((line) => ` ${line}`),
    ...shown(old, start, old.length - same).map((line) => `-${line}`),
    ...shown(now, start, now.length - same).map((line) => `+${line}`),
    ...shown(old, old.length - same, old.length - same + below).map((line) => ` ${line}`),
  ];
  const range = (count: number) => `${count === 0 ? 0 : first + 1},${count}`;
  const length = (all: readonly string[]) => all.length - same + below - first;
  return [
    `--- ${before === '' ? '/dev/null' : file}`,
    `+++ ${file}`,
    `@@ -${range(length(old))} +${range(length(now))} @@`,
    ...lines,
  ].join('\n');
}

/** What a line holds may depend on the one above. */
function shown(lines: readonly string[], start: number, end: number): string[] {
  return hideInFile(lines).slice(start, end);
}

function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
