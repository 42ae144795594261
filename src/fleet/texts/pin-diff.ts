import { escapeInvisible } from '../../shared/text/control-characters.js';
import { diffLines } from '../../shared/text/line-diff.js';
import type { PinnedVersion, ToolPin } from '../fleet.js';

const CONTEXT = 2;
/** A definition that was cut is no valid JSON, so it is broken into lines of equal length. */
const LINE = /.{1,100}/gsu;

/** How a tool differs from the pinned definition, field by field, each line marked as by `diff`. */
export function pinDiff({ pinned, offered }: Pick<ToolPin, 'pinned' | 'offered'>): string[] {
  const [before, after] = [partsOf(pinned), partsOf(offered)];
  const names = [...new Set([...before.keys(), ...after.keys()])];
  const lines = names.flatMap((name) => {
    const [old = [], now = []] = [before.get(name), after.get(name)];
    return diffLines(old, now, CONTEXT).flatMap((hunk) => [
      `@@ ${escapeInvisible(name)} @@`,
      ...hunk.lines.map(({ mark, text }) => `${mark}${escapeInvisible(text)}`),
    ]);
  });
  return lines.length > 0 ? lines : ['(they differ in what is not shown: a secret)'];
}

/** The fields of a definition as lines: text as it is, everything else as JSON. */
function partsOf(version: PinnedVersion | null): Map<string, string[]> {
  if (version === null) return new Map();
  const { definition, excerpt, hash } = version;
  if (definition === undefined) {
    return new Map([
      ['definition', [...(excerpt?.match(LINE) ?? []), `(too long to be shown; sha256 ${hash})`]],
    ]);
  }
  return new Map(
    Object.entries(definition).map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
      return [name, text.split('\n')];
    }),
  );
}
