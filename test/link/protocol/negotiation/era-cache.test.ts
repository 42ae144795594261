import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EraCache } from '../../../../src/link/protocol/negotiation/era-cache.js';
import { makeFolder } from '../../../support/folder.js';
import { FakeClock } from '../../fake-clock.js';

const DAY_MS = 86_400_000;

function prepareCache(content?: string) {
  const file = join(makeFolder(), 'cache', 'eras.json');
  const clock = new FakeClock();
  const open = () => new EraCache(file, clock);
  if (content !== undefined) {
    const verdicts = open();
    verdicts.of('x').keep('mcp2025');
    verdicts.close();
    writeFileSync(file, content);
  }
  return { file, clock, open };
}

describe('remembered eras', () => {
  it('survive the daemon, with their date', () => {
    const { file, clock, open } = prepareCache();
    const verdicts = open();
    verdicts.of('a').keep('mcp2025');
    verdicts.of('b').keep('mcp2026');
    expect([verdicts.of('a').recall(), verdicts.of('c').recall()]).toEqual(['mcp2025', undefined]);
    verdicts.close();
    const at = new Date(clock.now()).toISOString();
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      version: 1,
      verdicts: { a: { era: 'legacy', at }, b: { era: 'modern', at } },
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(file, '..'))).toEqual(['eras.json']);
    expect([open().of('a').recall(), open().of('b').recall()]).toEqual(['mcp2025', 'mcp2026']);
  });

  it('the eras of many servers that start together are written once', () => {
    const { file, clock, open } = prepareCache();
    const verdicts = open();
    for (let server = 0; server < 100; server += 1) verdicts.of(`${server}`).keep('mcp2025');
    expect(clock.armed).toBe(1);
    clock.advance(1000);
    expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')).verdicts)).toHaveLength(100);
  });

  it('an era of 2025 holds for seven days, in the same daemon and in the next', () => {
    const { clock, open } = prepareCache();
    const verdicts = open();
    verdicts.of('a').keep('mcp2025');
    verdicts.of('b').keep('mcp2026');
    clock.advance(7 * DAY_MS - 1);
    expect(verdicts.of('a').recall()).toBe('mcp2025');
    clock.advance(1);
    expect([verdicts.of('a').recall(), verdicts.of('b').recall()]).toEqual([undefined, 'mcp2026']);
    expect([open().of('a').recall(), open().of('b').recall()]).toEqual([undefined, 'mcp2026']);
  });

  it('that are presumed or forgotten do not reach the disk', () => {
    const { open } = prepareCache();
    const verdicts = open();
    verdicts.of('a').presume('mcp2025');
    verdicts.of('b').keep('mcp2026');
    verdicts.of('b').forget();
    expect([verdicts.of('a').recall(), verdicts.of('b').recall()]).toEqual(['mcp2025', undefined]);
    verdicts.close();
    expect([open().of('a').recall(), open().of('b').recall()]).toEqual([undefined, undefined]);
  });

  it.each([
    ['no JSON', '{"version": 1, "verd'],
    ['of another version', '{"version": 2, "verdicts": {"x": {"era": "legacy", "at": "2020-01-01"}}}'],
    ['of another shape', '{"version": 1, "verdicts": [1]}'],
    ['full of nonsense', '{"version": 1, "verdicts": {"x": {"era": "old", "at": 1}, "y": null, "z": {}}}'],
    ['dated in the future', '{"version": 1, "verdicts": {"x": {"era": "legacy", "at": "2999-01-01"}}}'],
  ])('a file that is %s is ignored, and is written anew', (_, content) => {
    const { open } = prepareCache(content);
    const verdicts = open();
    expect(verdicts.of('x').recall()).toBeUndefined();
    verdicts.of('x').keep('mcp2026');
    verdicts.close();
    expect(open().of('x').recall()).toBe('mcp2026');
  });

  it('eras hold for this daemon if their file cannot be written', () => {
    const clock = new FakeClock();
    const folder = makeFolder({ 'a-file': '' });
    const verdicts = new EraCache(join(folder, 'a-file', 'eras.json'), clock);
    verdicts.of('a').keep('mcp2025');
    clock.advance(1000);
    expect(verdicts.of('a').recall()).toBe('mcp2025');
  });
});
