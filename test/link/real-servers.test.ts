import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { alive, openLink, specOf } from './support.js';

const require = createRequire(import.meta.url);
const server = (name: string) =>
  join(dirname(require.resolve(`@modelcontextprotocol/server-${name}/package.json`)), 'dist', 'index.js');

let folder: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'real-')));
  writeFileSync(join(folder, 'hello.txt'), 'hello from a file\n');
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Handshake, list, one call, close: the whole life of a server. */
async function live(
  name: string,
  args: readonly string[],
  tool: string,
  params: Record<string, unknown>,
  env = {},
) {
  const one = openLink(specOf('', { name, args: [server(name), ...args], cwd: folder, env }));
  const opened = await one.opened;
  const tools = await one.link.list('tools/list');
  await one.link.ping(10_000);
  const answer = await one.tool(tool, params);
  const [pid = 0] = one.link.pids;
  one.link.close();
  const ending = await one.ended;
  expect(ending).toEqual({ kind: 'disconnected', reason: 'stopped', killed: false });
  expect([alive(pid), one.table.size, one.link.session.strays]).toEqual([
    false,
    0,
    { replies: 0, progress: 0, broken: 0, oversized: 0 },
  ]);
  return { opened, answer, tools: tools.map(({ name: one }) => one) };
}

describe('a real server works over the link from start to stop (FR-002, FR-004)', () => {
  it('the server everything starts, answers and stops', async () => {
    const { opened, tools, answer } = await live('everything', [], 'echo', { message: 'ünïcode' });
    expect(opened.protocolVersion).toBe('2025-11-25');
    expect(tools).toContain('echo');
    expect(answer).toContain('ünïcode');
  });

  it('the server filesystem starts, answers and stops', async () => {
    const { tools, answer } = await live('filesystem', [folder], 'read_text_file', {
      path: join(folder, 'hello.txt'),
    });
    expect(tools).toContain('read_text_file');
    expect(answer).toContain('hello from a file');
  });

  it('the server memory starts, answers and stops', async () => {
    const env = { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') };
    const entities = [{ name: 'toolherd', entityType: 'daemon', observations: ['keeps servers alive'] }];
    const { tools, answer } = await live('memory', [], 'create_entities', { entities }, env);
    expect(tools).toContain('read_graph');
    expect(answer).toContain('keeps servers alive');
  });
});
