import { describe, expect, test } from 'vitest';
import type { StdioSpec } from '../../../src/config/fields/spec.js';
import { readLists } from '../../../src/supervisor/catalog/lists.js';
import { FakeLink, type FakeLinkBehaviour } from '../fake-link.js';
import { EVERY_LIST, spec, World } from '../world.js';

async function read(changes: Partial<StdioSpec>, offered: FakeLinkBehaviour['lists']) {
  const on = { opened: () => {}, notification: () => {}, ended: () => {} };
  const link = new FakeLink(spec(changes), 1, on, new World().clock, { lists: offered ?? {} });
  const { order: _, failures, ...lists } = await readLists(link, spec(changes), EVERY_LIST);
  return { lists, failures, reads: link.reads };
}

describe('reading the lists of a server', () => {
  test('FR-013 FR-014: gets all four lists', async () => {
    const { lists, failures } = await read(
      {},
      { 'tools/list': [{ name: 'a' }], 'prompts/list': [{ name: 'b' }] },
    );
    expect(lists).toEqual({ tools: [{ name: 'a' }], prompts: [{ name: 'b' }], resources: [], templates: [] });
    expect(failures).toBeUndefined();
  });

  test('FR-013 FR-014: skips lists that the config does not load; they stay unknown', async () => {
    const { lists, reads } = await read({ loadTools: false, loadPrompts: false }, {});
    expect([lists.tools, lists.prompts]).toEqual([undefined, undefined]);
    expect(reads).toEqual(['resources/list', 'resources/templates/list']);
  });

  test('leaves a list that fails unknown, with the reason, and keeps the others', async () => {
    const { lists, failures } = await read(
      {},
      { 'tools/list': new Error('no'), 'prompts/list': [{ name: 'b' }] },
    );
    expect(lists).toEqual({ tools: undefined, prompts: [{ name: 'b' }], resources: [], templates: [] });
    expect(failures).toEqual({ tools: 'no' });
  });
});
