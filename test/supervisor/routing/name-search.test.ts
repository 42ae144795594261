import { describe, expect, test } from 'vitest';
import type { NamedList } from '../../../src/fleet/fleet.js';
import type { Separator } from '../../../src/shared/mcp/separators.js';
import { settled, spec, World } from '../world.js';

const ENTRIES: Record<string, readonly string[]> = {
  git: ['push', 'git_status', 'a.b'],
  'my.git': ['push'],
  'git-hub': ['push'],
  hub: ['git_push'],
};

/** A herd whose servers have a list each; the lists of `unread` servers are not known. */
async function herdOf(
  names: readonly string[],
  configured: Separator = '__',
  unread: readonly string[] = [],
) {
  const world = new World();
  const entriesOf = (name: string) =>
    (ENTRIES[name] ?? []).map((tool) => ({ name: tool, inputSchema: { type: 'object' } }));
  world.behaviour = ({ name }) =>
    unread.includes(name)
      ? {}
      : { opens: true, lists: { 'tools/list': entriesOf(name), 'prompts/list': entriesOf(name) } };
  let separator = configured;
  const herd = world.herd({ separator: () => separator, listWaitMs: () => 0 });
  herd.apply(names.map((name) => spec({ name })));
  const read = names.filter((name) => !unread.includes(name));
  await herd.view.order('start', { servers: read }, true);
  for (const name of read) await herd.view.catalog.tools(name);
  /** The server and the own name that a request reaches; the type of the error where it reaches none. */
  const reached = async (
    name: string,
    options: { separator?: Separator; server?: string; list?: NamedList } = {},
  ) => {
    const { server, list = 'tools' } = options;
    const method = list === 'tools' ? 'tools/call' : 'prompts/get';
    const before = world.links.map(({ written }) => written.length);
    const asked = herd.view.requests.request(
      { server, method, params: { name }, timeout_ms: 5 },
      { separator: options.separator },
    );
    const failed = asked.then(
      () => 'answered',
      (error: { type: string }) => error.type,
    );
    await settled();
    for (const [index, link] of world.links.entries()) {
      const sent = link.written.slice(before[index] ?? 0).find((message) => message.method === method);
      if (sent !== undefined) return `${link.spec.name}: ${(sent.params as { name: string }).name}`;
    }
    await world.passes(10);
    return failed;
  };
  const use = (next: Separator) => {
    separator = next;
    herd.renamed();
  };
  return { herd, reached, use };
}

describe('a public name', () => {
  test.each(['tools', 'prompts'] as const)(
    'D2: %s are found by the separator of the caller, by that of the config, and by __',
    async (list) => {
      const { reached } = await herdOf(['git', 'my.git'], '-');
      for (const name of ['git_push', 'git-push', 'git__push'])
        expect(await reached(name, { separator: '_', list })).toBe('git: push');
      expect(await reached('my-git_push', { separator: '_', list })).toBe('my.git: push');
      expect(await reached('my-git.push', { separator: '.', list })).toBe('my.git: push');
      expect(await reached('git_push', { list })).toMatch(/NotFoundError$/);
    },
  );

  test('a tool of a server with a dot is found in the form of earlier versions', async () => {
    const { reached } = await herdOf(['git', 'my.git']);
    expect(await reached('my.git__push')).toBe('my.git: push');
    expect(await reached('my-git__push')).toBe('my.git: push');
    expect(await reached('git__a.b')).toBe('git: a.b');
  });

  test('a tool of a named server is found in every form, and own names count more', async () => {
    const { reached } = await herdOf(['git'], '-');
    const of = (name: string) => reached(name, { separator: '_', server: 'git' });
    expect(await of('git_push')).toBe('git: push');
    expect(await of('git-push')).toBe('git: push');
    expect(await of('git_status')).toBe('git: git_status');
    expect(await of('git_git_status')).toBe('git: git_status');
  });

  test('a name leads to no server of another form while the list of its server is unknown', async () => {
    const { reached } = await herdOf(['git', 'git-hub'], '_', ['git']);
    // in the form of the caller it is `hub_push` of git, in that of the config `push` of git-hub
    expect(await reached('git-hub_push', { separator: '-' })).not.toContain('git-hub: push');
    expect(await reached('git-hub_push')).toBe('git-hub: push');
  });
});

test('a changed separator of the config gives every list new names, and agents get list changes', async () => {
  const { herd, reached, use } = await herdOf(['git']);
  const changed: string[] = [];
  herd.view.events.subscribe(['catalog'], (event) => {
    if (event.topic === 'catalog') changed.push(`${event.server} ${event.list}`);
  });
  use('_');
  expect(changed).toEqual(['git tools', 'git prompts']);
  const { tools } = await herd.view.catalog.tools();
  expect(tools.map(({ exposed_name }) => exposed_name)).toEqual(['git_push', 'git_git_status', 'git_a-b']);
  expect(await reached('git_push')).toBe('git: push');
  expect(await reached('git__push')).toBe('git: push');
});
