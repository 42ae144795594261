import { describe, expect, it } from 'vitest';
import { toolDocument } from '../../src/search/tool-document.js';
import { ToolIndex } from '../../src/search/tool-index.js';
import type { JsonObject } from '../../src/shared/json.js';

interface Tool extends JsonObject {
  name: string;
}

const tool = (name: string, description = '', properties: JsonObject = {}): Tool => ({
  name,
  description,
  inputSchema: { type: 'object', properties },
});

function indexOf(servers: Record<string, Tool[]>) {
  const index = new ToolIndex<Tool>();
  const add = (server: string, tools: Tool[]) => {
    for (const definition of tools) index.add(server, definition, toolDocument({ server, definition }));
  };
  for (const [server, tools] of Object.entries(servers)) add(server, tools);
  const find = (query: string, options: Partial<Parameters<typeof index.search>[1]> = {}) =>
    index.search(query, { limit: 10, ...options }).map(({ item }) => item.name);
  return { index, add, find };
}

const FILES = [
  tool('read_file', 'Returns the content of one file.', { path: { type: 'string' } }),
  tool('write_file', 'Writes a text to a file.', { path: { type: 'string' }, content: { type: 'string' } }),
  tool('list_directory', 'Lists the files of a directory. Do not use it to read a file.'),
  tool('delete_file', 'Deletes a file for good.'),
];
const ISSUES = [
  tool('createIssue', 'Opens a new issue in a repository.', {
    labels: { type: 'array', description: 'tags of the issue', items: { enum: ['bug', 'wish'] } },
  }),
  tool('searchCode', 'Searches in the code of all repositories.'),
];

describe('a search', () => {
  it('puts a tool first whose name has every word of the query', () => {
    const spam = tool('talk', 'read file read file read file. read file read file');
    const { find } = indexOf({ chat: [spam], files: FILES });
    expect(find('read file')[0]).toBe('read_file');
    expect(find('reading files')[0]).toBe('read_file');
    expect(find('please read a file', { callsOf: ({ name }) => (name === 'talk' ? 1e9 : 0) })[0]).toBe(
      'read_file',
    );
  });

  it('leaves out no tool because another one has every word of the query in its name', () => {
    const read = ['read_file', 'read_large_file', 'read_many_files'].map((name) =>
      tool(name, 'Reads files.'),
    );
    const others = ['list_directory', 'search_nodes', 'echo'].map((name) => tool(name));
    const { find } = indexOf({ files: [...read, tool('cat', 'Shows a file of the shop.'), ...others] });
    expect(find('read file')).toEqual([...read.map(({ name }) => name), 'cat']);
  });

  it('finds a tool by a synonym of its words', () => {
    const { find } = indexOf({ files: FILES, issues: ISSUES });
    expect(find('remove a document')[0]).toBe('delete_file');
    expect(find('folder')[0]).toBe('list_directory');
    expect(find('new ticket')[0]).toBe('createIssue');
  });

  it('ranks a tool with the word itself before one with a synonym of it', () => {
    const { find } = indexOf({ a: [tool('erase_note'), tool('remove_note')] });
    expect(find('remove the note')).toEqual(['remove_note', 'erase_note']);
  });

  it('finds a tool by its server, its arguments and their descriptions', () => {
    const { find } = indexOf({ files: FILES, 'git-hub': ISSUES });
    expect(find('github')).toEqual(['createIssue', 'searchCode']);
    expect(find('labels')).toEqual(['createIssue']);
    expect(find('wish')).toEqual(['createIssue']);
  });

  it('finds the tools of a server by its instructions', () => {
    const index = new ToolIndex<string>();
    const definition = tool('ask');
    index.add('a', 'ask', toolDocument({ server: 'a', definition, instructions: 'Knows all about whales.' }));
    expect(index.search('whale', { limit: 1 })).toMatchObject([{ item: 'ask' }]);
  });

  it('prefers what the first sentence of a description says', () => {
    const { find } = indexOf({
      a: [tool('one', 'Sends mail. It never moves money.'), tool('two', 'Moves money. It never sends mail.')],
    });
    expect(find('mail')).toEqual(['one', 'two']);
    expect(find('money')).toEqual(['two', 'one']);
  });

  it('finds a word of a tool by its beginning where no tool has the word itself', () => {
    const { find } = indexOf({ mongodb: [tool('count')], files: FILES });
    expect(find('mongo')).toEqual(['count']);
    expect(find('repositor')).toEqual([]);
    expect(find('fil')).toEqual([]);
  });

  it('lets words of every other sentence count less than those of a subject', () => {
    const { find } = indexOf({ a: [tool('take_photo'), tool('drain_node')] });
    expect(find('take a node away')).toEqual(['drain_node', 'take_photo']);
  });

  it('leaves out tools that fit far worse than the best', () => {
    const far = Array.from({ length: 20 }, (_, at) =>
      tool(`other_${at}`, `Does other things. ${'and more '.repeat(40)}file`),
    );
    const { find } = indexOf({ a: [tool('compress_file', 'Compresses a file.'), ...far] });
    expect(find('compress a file')).toEqual(['compress_file']);
  });

  it('finds nothing for words that no tool has, and for none', () => {
    const { find } = indexOf({ files: FILES });
    expect([find('xyzzy'), find(''), find('   '), find('the of and')]).toEqual([[], [], [], []]);
  });

  it('takes a query of words of grammar as it is where a name has them', () => {
    const { find } = indexOf({ files: FILES, skills: [tool('use')] });
    expect(find('use')).toEqual(['use']);
  });

  it('answers with at most as many tools as were asked for, of one server where it is named', () => {
    const { find } = indexOf({ files: FILES, issues: ISSUES });
    expect(find('file', { limit: 2 })).toHaveLength(2);
    expect(find('search files in code', { group: 'issues' })).toEqual(['searchCode']);
    expect(find('file', { group: 'absent' })).toEqual([]);
  });

  it('never finds a tool that is not accepted, and fills its place with the next', () => {
    const { find } = indexOf({ files: FILES });
    const all = find('file');
    const accept = ({ name }: Tool) => name !== all[0];
    expect(find('file', { limit: 3, accept })).toEqual(all.slice(1, 4));
  });

  it('orders equal tools by the name of their server, then as it lists them, also after a change', () => {
    const [first, second] = [tool('ping_2'), tool('ping_1')];
    const { index, add, find } = indexOf({ b: [tool('ping_b')], a: [first, second] });
    expect(find('ping')).toEqual(['ping_2', 'ping_1', 'ping_b']);
    index.remove('a');
    add('a', [first, second]);
    expect(find('ping')).toEqual(['ping_2', 'ping_1', 'ping_b']);
    expect(find('ping', { limit: 1 })).toEqual(['ping_2']);
  });

  it('cuts a query of a thousand words', () => {
    const { find } = indexOf({ files: FILES });
    const words = Array.from({ length: 1000 }, (_, at) => `word${at}`);
    expect(find(`delete file ${words.join(' ')}`)[0]).toBe('delete_file');
  });
});

describe('calls', () => {
  const twins = { a: [tool('ping_a', 'Pings a host.'), tool('ping_b', 'Pings a host.')] };

  it('decide between tools that fit equally well', () => {
    const { find } = indexOf(twins);
    expect(find('ping a host', { callsOf: ({ name }) => (name === 'ping_b' ? 3 : 0) })[0]).toBe('ping_b');
  });

  it('never bring more than a twentieth of a score', () => {
    const { index } = indexOf(twins);
    const [without] = index.search('host', { limit: 1 });
    const [most] = index.search('host', { limit: 1, callsOf: () => 1e12 });
    expect(most!.score / without!.score).toBeLessThanOrEqual(1.05);
    expect(most!.score).toBeGreaterThan(without!.score);
  });
});

describe('the index', () => {
  it('forgets the tools of one server, and leaves those of others as they were', () => {
    const { index, add, find } = indexOf({ files: FILES, issues: ISSUES });
    const others = find('issue in a repository');
    index.remove('files');
    expect(index.size).toBe(ISSUES.length);
    expect(find('directory')).toEqual([]);
    expect(find('issue in a repository')).toEqual(others);
    add('files', [tool('copy_directory')]);
    expect(find('directory')).toEqual(['copy_directory']);
    expect(find('delete')).toEqual([]);
  });

  it('answers after any order of changes as one that was made anew', () => {
    const { index, add, find } = indexOf({ issues: ISSUES, files: FILES });
    for (let round = 0; round < 3; round += 1) {
      index.remove('issues');
      add('issues', ISSUES);
      index.remove('files');
      add('files', FILES);
    }
    const fresh = indexOf({ issues: ISSUES, files: FILES });
    for (const query of ['read a file', 'list', 'search the code', 'issue'])
      expect(find(query)).toEqual(fresh.find(query));
    expect(index.search('read file', { limit: 1 })[0]?.score).toBe(
      fresh.index.search('read file', { limit: 1 })[0]?.score,
    );
  });

  it('takes definitions of any shape', () => {
    const strange: JsonObject[] = [
      { name: 'a', description: 7, inputSchema: null },
      { name: 'b', inputSchema: { properties: { x: null, y: true }, items: { properties: 3 } } },
      { name: 'constructor', title: ['t'], annotations: 'x', inputSchema: { properties: [] } },
    ];
    const index = new ToolIndex<unknown>();
    for (const definition of strange)
      index.add('s', definition.name, toolDocument({ server: 's', definition }));
    expect(index.search('constructor', { limit: 1 })).toMatchObject([{ item: 'constructor' }]);
    expect(index.search('__proto__ toString', { limit: 1 })).toEqual([]);
  });
});
