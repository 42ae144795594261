import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Home } from '../support/herd.js';

/** What the daemon has to say of itself when something came that its authors had not thought of. */
export function expectNoFault({ folder }: Home): void {
  const log = readFileSync(join(folder, 'state', 'logs', 'daemon.log'), 'utf8');
  expect(log.split('\n').filter((line) => line.includes('a fault in toolherd itself'))).toEqual([]);
}
