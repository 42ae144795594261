import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { VERSION } from '../src/version.js';

const ROOT = join(import.meta.dirname, '..');
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

describe('the package', () => {
  it('says the version that it has', () => {
    expect(VERSION).toBe(manifest.version);
  });

  it('every file that it exports is built', () => {
    const exported = Object.values(manifest.exports as Record<string, string | Record<string, string>>);
    const files = exported.flatMap((entry) => (typeof entry === 'string' ? [entry] : Object.values(entry)));
    expect([...files, manifest.bin.toolherd].filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });

  it('its lock file names no download address', () => {
    expect(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).not.toContain('"resolved"');
  });
});
