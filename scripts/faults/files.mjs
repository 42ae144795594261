// Which test files prove the rows: those of the faults and of the fuzzing, and for a row that has none there whoever cites it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { idsIn } from './report.mjs';
import { ROWS } from './rows.mjs';

const TEST_NAME =
  /\b(?:it|test|describe)(?:\.each\([\s\S]*?\)|\.concurrent)?\(\s*(['"`])((?:\\.|(?!\1)[\s\S])*)\1/g;
/** Where a fault is done for real, and what belongs to one and is tried elsewhere. */
const OWN =
  /^test\/(faults|fuzz)\/|^test\/(mcp\/same-ids|config\/(containment|hostile|trust)|views\/trust|cli\/(terminal|hostile))\.test\.ts$/;

export function filesOfRows(root) {
  const all = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `test/${name}`);
  const own = all.filter((file) => OWN.test(file));
  const covered = new Set(own.flatMap((file) => idsCited(root, file)));
  const missing = ROWS.map(({ id }) => id).filter((id) => !covered.has(id));
  const others = all.filter(
    (file) => !OWN.test(file) && idsCited(root, file).some((id) => missing.includes(id)),
  );
  return [...own, ...others].sort();
}

function idsCited(root, file) {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(TEST_NAME)].flatMap(([, , name]) => idsIn(name));
}
