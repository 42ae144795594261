import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { ToolResult } from '../../../src/fleet/fleet.js';
import { ResultFiles } from '../../../src/supervisor/routing/result-files.js';
import { config, server } from '../../faults/config.js';
import { LineClient } from '../../ipc/mcp/support.js';
import { makeFolder } from '../../support/folder.js';
import { startHerd } from '../../support/herd.js';

async function startContentHerd(fields: Record<string, unknown> = {}) {
  const herd = await startHerd(config([server('content', 'content.mjs', fields)]));
  const call = (tool: string, args: Record<string, unknown> = {}) =>
    herd.fleet.call({ server: 'content', tool, arguments: args });
  return { ...herd, call };
}

const annotations = { audience: ['user'], priority: 0.5 };
const meta = { 'example.com/trace': 7 };

describe('a result that passes the daemon', () => {
  test('FR-003 FR-017 FR-018 FR-019 FR-020 US3.1 US3.2 US3.3 US3.4 US3.5: keeps every kind of content', async () => {
    const { call, home } = await startContentHerd();
    const result = await call('everything');
    expect(result.content).toEqual([
      { type: 'text', text: 'first', annotations, meta },
      { type: 'image', data: 'iVBORw0KGgo=', mime_type: 'image/png', annotations },
      { type: 'audio', data: 'UklGRg==', mime_type: 'audio/wav' },
      {
        type: 'binary',
        data: Buffer.from('naïve').toString('base64'),
        mime_type: 'text/plain',
        uri: 'file:///a.txt',
        annotations,
        more: { resource: { _meta: meta } },
      },
      { type: 'binary', data: 'AP8K', mime_type: null, uri: 'file:///a.bin' },
      {
        type: 'binary',
        data: null,
        mime_type: 'text/csv',
        uri: 'file:///b.csv',
        name: 'b',
        more: { title: 'B', description: 'numbers', size: 3 },
      },
      { type: 'unknown', original_type: 'hologram', raw: { type: 'hologram', beam: { deep: [1] } } },
      { type: 'text', text: 'second' },
    ]);
    expect(result.metadata).toMatchObject({
      structured_content: { rows: [{ a: 1 }] },
      meta: { 'example.com/cost': 3 },
      is_error: false,
    });
    expect(result.text()).toBe('first\nsecond');
    expect(JSON.parse(JSON.stringify(result))).toEqual(result);
    const log = readFileSync(join(home.folder, 'state', 'logs', 'servers', 'content.log'), 'utf8');
    expect(log).toContain("content of unknown type 'hologram' was kept as it came");
  });

  test('US5.3 FR-022: the result of a tool that failed keeps the text and the content of the tool', async () => {
    const { call } = await startContentHerd();
    const failed = await call('fails');
    expect(failed).toMatchObject({
      success: false,
      content: [{ type: 'text', text: 'no such row' }],
      error: { type: 'MCPToolError', message: 'no such row', retryable: false, sent: true },
      metadata: { is_error: true },
    });
  });

  test('US1.3: structured content only, no content, or the form of 2024-10-07 is a success', async () => {
    const { call } = await startContentHerd();
    const structured = await call('structured');
    expect(structured).toMatchObject({ success: true, content: [] });
    expect(structured.metadata.structured_content).toEqual({ only: true });
    expect(await call('empty')).toMatchObject({ success: true, content: [], error: null });
    expect((await call('old')).content).toMatchObject([{ type: 'unknown', original_type: 'toolResult' }]);
  });
});

const linkIn = ({ content }: ToolResult) => {
  const last = content.at(-1);
  if (last?.type !== 'binary' || last.uri === null) throw new Error(JSON.stringify(content));
  return last;
};

describe('result_limit', () => {
  test('cuts text beyond it, says how much, and stores the whole text in a file of mode 0600', async () => {
    const { call, home } = await startContentHerd({ result_limit: 10 });
    const result = await call('long', { lengths: [6, 6, 3] });
    const link = linkIn(result);
    expect(result.content).toEqual([
      { type: 'text', text: '000000' },
      { type: 'text', text: `1111\n[5 of 15 characters cut by result_limit; all of it: ${link.uri}]` },
      expect.objectContaining({ type: 'image' }),
      { type: 'binary', data: null, mime_type: 'text/plain', uri: link.uri, name: link.name },
    ]);
    expect(result.metadata.truncated).toEqual({ characters: 15, given: 10, uri: link.uri });
    const file = fileURLToPath(link.uri ?? '');
    expect(readFileSync(file, 'utf8')).toBe('000000\n111111\n222');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(file.startsWith(join(home.folder, 'state', 'results'))).toBe(true);
    expect(statSync(join(home.folder, 'state', 'results')).mode & 0o777).toBe(0o700);
  });

  test('applies to MCP clients: the file is linked as a resource, other blocks stay', async () => {
    const { home } = await startContentHerd({ result_limit: 10 });
    const client = new LineClient(home.socket);
    await client.hello();
    const params = { name: 'content__long', arguments: { lengths: [6, 6, 3] } };
    const { result } = await client.ask(1, 'tools/call', params);
    const blocks = result?.content as { type: string; text?: string; uri?: string }[];
    const { uri = '' } = blocks.at(-1) ?? {};
    expect(blocks).toEqual([
      { type: 'text', text: '000000' },
      { type: 'text', text: `1111\n[5 of 15 characters cut by result_limit; all of it: ${uri}]` },
      expect.objectContaining({ type: 'image', mimeType: expect.any(String) }),
      { type: 'resource_link', uri, name: expect.stringMatching(/\.txt$/), mimeType: 'text/plain' },
    ]);
    expect(readFileSync(fileURLToPath(uri), 'utf8')).toBe('000000\n111111\n222');
  });

  test('cuts the error text of a failed tool', async () => {
    const { call } = await startContentHerd({ result_limit: 10 });
    const { error, content } = await call('long', { lengths: [20], isError: true });
    expect(error?.message).toBe('0'.repeat(10));
    expect(content[0]).toMatchObject({ text: expect.stringContaining('[10 of 20 characters cut') });
  });

  test('leaves a result that fits, and every result when it is not set', async () => {
    const { call, home } = await startContentHerd({ result_limit: 10 });
    const fits = await call('long', { lengths: [5, 5] });
    expect(fits.metadata).not.toHaveProperty('truncated');
    expect(fits.content).toHaveLength(3);
    expect(readdirSync(join(home.folder, 'state'))).not.toContain('results');
    const free = await startContentHerd();
    const whole = await free.call('long', { lengths: [1_000_000] });
    expect(whole.text()).toHaveLength(1_000_000);
  });
});

describe('the files of cut results', () => {
  const DAY_MS = 86_400_000;

  test('are deleted after a day, and the oldest when the folder is too large; other files stay', async () => {
    const folder = makeFolder({ 'old.txt': 'x', 'second.txt': 'x'.repeat(60), 'mine.md': 'x' });
    const now = Date.now();
    const age = (name: string, ms: number) => {
      const at = (now - ms) / 1000;
      utimesSync(join(folder, name), at, at);
    };
    age('old.txt', DAY_MS + 1000);
    age('second.txt', 5000);
    age('mine.md', 10 * DAY_MS);
    const logs: string[] = [];
    const files = new ResultFiles({ folder, now: () => now, log: (text) => logs.push(text), maxBytes: 100 });
    await files.tidy();
    expect(readdirSync(folder).sort()).toEqual(['mine.md', 'second.txt']);
    const uri = await files.keep('y'.repeat(60));
    expect(readdirSync(folder).sort()).toEqual([(uri ?? '').split('/').at(-1), 'mine.md'].sort());
    await Promise.all([files.keep('z'.repeat(200)), files.keep('z'.repeat(200))]);
    expect(readdirSync(folder).filter((name) => name.endsWith('.txt'))).toHaveLength(1);
    expect(logs).toEqual([]);
  });

  test('are tidied a few times for a hundred new files, not once for each', async () => {
    const folder = makeFolder({});
    let looks = 0;
    const now = () => {
      looks += 1;
      return Date.now();
    };
    const files = new ResultFiles({ folder, now, log: () => {} });
    await Promise.all(Array.from({ length: 100 }, () => files.keep('x')));
    // each tidying looks at the age of every file
    expect(looks).toBeLessThan(100 * 50);
    expect(readdirSync(folder)).toHaveLength(100);
  });

  test('that cannot be written are logged, and have no URI', async () => {
    const folder = makeFolder({ taken: '' });
    writeFileSync(join(folder, 'taken'), 'a file, not a folder');
    const logs: string[] = [];
    const files = new ResultFiles({
      folder: join(folder, 'taken'),
      now: Date.now,
      log: (text) => logs.push(text),
    });
    expect(await files.keep('x')).toBeUndefined();
    expect(logs[0]).toContain('a result over result_limit could not be kept');
  });
});
