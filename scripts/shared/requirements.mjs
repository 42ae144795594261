// docs/spec/requirements.md, read: its tables have an id, a sentence, and for a fault also what must hold.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const PAGE = join(import.meta.dirname, '..', '..', 'docs', 'spec', 'requirements.md');
const ROW = /^\| ([A-Z][A-Z0-9.-]*\d) \| (.+) \|$/gm;

export const REQUIREMENTS = [...readFileSync(PAGE, 'utf8').matchAll(ROW)].map(([, id = '', cells = '']) => {
  const [text = '', must] = cells.split(' | ');
  return { id, text, must };
});
