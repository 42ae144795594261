// Which test files prove the rows: those of test/faults and test/fuzz, and for a row without one there, every test that cites it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { testNames } from '../../shared/test-names.mjs';
import { idsIn } from './report.mjs';
import { ROWS } from './rows.mjs';

/** Tests outside of test/faults and test/fuzz that also prove a row. */
const ALSO = [
  'test/cli/hostile.test.ts',
  'test/cli/terminal.test.ts',
  'test/config/containment.test.ts',
  'test/config/hostile.test.ts',
  'test/config/trust/trust.test.ts',
  'test/daemon/views/trust.test.ts',
  'test/ipc/mcp/same-ids.test.ts',
];

/** @param {string} root of the repository */
export function filesOfRows(root) {
  const all = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `test/${name}`);
  const moved = ALSO.filter((file) => !all.includes(file));
  if (moved.length > 0)
    throw new Error(`no such test: ${moved.join(', ')}; correct ALSO in ${import.meta.filename}`);
  const own = all.filter((file) => /^test\/(faults|fuzz)\//.test(file) || ALSO.includes(file));
  const covered = new Set(own.flatMap((file) => idsCited(root, file)));
  const missing = ROWS.map(({ id }) => id).filter((id) => !covered.has(id));
  const others = all.filter(
    (file) => !own.includes(file) && idsCited(root, file).some((id) => missing.includes(id)),
  );
  return [...own, ...others].sort();
}

/**
 * @param {string} root
 * @param {string} file
 */
function idsCited(root, file) {
  return testNames(readFileSync(join(root, file), 'utf8')).flatMap(idsIn);
}
