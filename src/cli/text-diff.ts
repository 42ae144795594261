const CONTEXT = 3;

/** One change of a text as `diff -u` would show it. */
export function textDiff(file: string, before: string, after: string): string {
  const [old, now] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let same = 0;
  while (same < Math.min(old.length, now.length) - start && old.at(-1 - same) === now.at(-1 - same)) same++;
  const first = Math.max(0, start - CONTEXT);
  const below = Math.min(same, CONTEXT);
  const lines = [
    ...old.slice(first, start).map((line) => ` ${line}`),
    ...old.slice(start, old.length - same).map((line) => `-${line}`),
    ...now.slice(start, now.length - same).map((line) => `+${line}`),
    ...old.slice(old.length - same, old.length - same + below).map((line) => ` ${line}`),
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

function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
