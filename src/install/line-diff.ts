import { hideInFile } from '../shared/secrets/hide-secrets.js';
import { diffLines } from '../shared/text/line-diff.js';

const FILE_CONTEXT = 3;

/** The change of a file as `diff -u` shows it, without secrets. */
export function fileDiff(file: string, before: string, after: string): string {
  const hunks = diffLines(linesOf(before), linesOf(after), FILE_CONTEXT, hideInFile);
  return [
    `--- ${before === '' ? '/dev/null' : file}`,
    `+++ ${file}`,
    ...hunks.flatMap(({ range, lines }) => [
      `@@ ${range} @@`,
      ...lines.map(({ mark, text }) => `${mark}${text}`),
    ]),
  ].join('\n');
}

function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
