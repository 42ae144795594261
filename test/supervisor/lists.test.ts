import { describe, expect, test } from 'vitest';
import type { StdioSpec } from '../../src/config/spec.js';
import { readLists } from '../../src/supervisor/lists.js';
import { FakeLink, type Manners } from './fake-link.js';
import { spec, World } from './world.js';

async function read(changes: Partial<StdioSpec>, lists: Manners['lists']) {
  const on = { opened: () => {}, notification: () => {}, ended: () => {} };
  const link = new FakeLink(spec(changes), 1, on, new World().clock, { lists: lists ?? {} });
  const logs: string[] = [];
  return { lists: await readLists(link, spec(changes), (line) => logs.push(line)), logs, reads: link.reads };
}

describe('reading the lists of a server', () => {
  test('FR-013 FR-014: all of them', async () => {
    const { lists, logs } = await read(
      {},
      { 'tools/list': [{ name: 'a' }], 'prompts/list': [{ name: 'b' }] },
    );
    expect(lists).toEqual({ tools: [{ name: 'a' }], prompts: [{ name: 'b' }], resources: [], templates: [] });
    expect(logs).toEqual([]);
  });

  test('FR-013 FR-014: what is not wanted is not asked for, and nobody knows it', async () => {
    const { lists, reads } = await read({ loadTools: false, loadPrompts: false }, {});
    expect([lists.tools, lists.prompts]).toEqual([undefined, undefined]);
    expect(reads).toEqual(['resources/list', 'resources/templates/list']);
  });

  test('one that cannot be read is logged and is not empty but unknown; the others are still of use', async () => {
    const { lists, logs } = await read(
      {},
      { 'tools/list': new Error('no'), 'prompts/list': [{ name: 'b' }] },
    );
    expect(lists).toEqual({ tools: undefined, prompts: [{ name: 'b' }], resources: [], templates: [] });
    expect(logs).toEqual(['tools/list could not be read: no']);
  });
});
