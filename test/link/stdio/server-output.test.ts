// isolated: measures the memory of its process
import { describe, expect, it } from 'vitest';
import { remembering } from '../protocol/negotiation/remembering.js';
import { errorOf, openLink, specOf, textOf } from '../support.js';

describe('a server that prints lines that are no messages', () => {
  const spec = specOf('noisy.mjs');

  it('still works, and its noise is in the log (U2)', async () => {
    const { opened, tool, logs, link } = openLink(spec);
    await opened;
    expect(await tool('bytewise')).toBe('gäbe es ☃');
    expect(await tool('echoes')).toBe('echoed');
    const noise = logs.filter(({ source }) => source === 'stdout').map(({ text }) => text);
    expect(noise).toEqual([
      'Welcome to noisy!',
      '{"level":30,"msg":"a log line in JSON"}',
      '42',
      expect.stringContaining('DEBUG got'),
    ]);
    expect(link.session.strays.broken).toBe(4);
  });

  it.each(['glued', 'nul', 'badUtf8'])(
    'fails fast when a reply is broken (%s), and the next call works (U2, U8)',
    async (name) => {
      const { opened, tool } = openLink(spec);
      await opened;
      expect(await errorOf(tool(name))).toMatchObject({
        type: 'MCPProtocolError',
        sent: true,
        rpc: undefined,
      });
      expect(await tool('bytewise')).toBe('gäbe es ☃');
    },
  );
});

describe('a result over max_message_bytes', () => {
  it.each(['first', 'last'])(
    'fails its own call only, with the id %s; the server lives (U3)',
    async (order) => {
      const { tool, link } = openLink(specOf('huge.mjs', { maxMessageBytes: 1_000_000 }));
      const [big, small] = [errorOf(tool('give', { bytes: 5_000_000, order })), tool('give', { bytes: 10 })];
      expect(await big).toMatchObject({ type: 'ResultTooLargeError', sent: true });
      expect(await small).toHaveLength(10);
      expect(link.pids).toHaveLength(1);
    },
  );

  it('passes just below the limit: 50 MB arrive', async () => {
    const { tool } = openLink(specOf('huge.mjs'));
    expect(await tool('give', { bytes: 50_000_000 })).toHaveLength(50_000_000);
  });
});

describe('a hostile server', () => {
  const spec = specOf('hostile.mjs');

  it('cannot answer a call twice or one that does not exist: such replies reach no call and are counted (U4)', async () => {
    const { tool, link } = openLink(spec);
    expect(await tool('twice')).toBe('first');
    expect(await tool('forge')).toBe('mine');
    expect(link.session.strays.replies).toBeGreaterThanOrEqual(4);
  });

  it('cannot reach another call with progress or with a second id (U4, U8)', async () => {
    const { tool, link, opened } = openLink(spec);
    await opened;
    const heard: unknown[] = [];
    const victim = link.session.call('tools/call', { name: 'victim' });
    const release = () =>
      link.session.call('tools/call', { name: 'release' }, { onProgress: (one) => heard.push(one) });
    expect(await tool('progress')).toBe('quiet');
    expect(link.session.strays.progress).toBe(5);
    // both ids are in flight, so neither call is touched
    const smuggler = errorOf(link.session.call('tools/call', { name: 'twoIds' }, { timeoutMs: 200 }));
    expect(await smuggler).toMatchObject({ type: 'MCPTimeoutError' });
    await release();
    expect(textOf(await victim)).toBe('own');
    expect(heard).toEqual([]);
  });

  it.each(['sameIdTwice', 'methodToo', 'bothOutcomes', 'stringId', 'noObject', 'badError'])(
    'gets a reply of the wrong shape (%s) through to its own call as an error (U8)',
    async (name) => {
      const { tool } = openLink(spec);
      expect(await errorOf(tool(name))).toMatchObject({
        type: 'MCPProtocolError',
        sent: true,
        rpc: undefined,
      });
      expect(await tool('forge')).toBe('mine');
    },
  );

  it('may use ids of 64 bits and batches without harm (U8)', async () => {
    const { tool } = openLink(spec);
    expect(await tool('bigId')).toBe('mine');
    expect(await tool('batch')).toBe('batched');
  });
});

describe('a server that stops reading', () => {
  it('fills its queue, then fails fast; nothing hangs for ever (U5)', async () => {
    const { link, opened, ended } = openLink(specOf('deaf.mjs', { requestTimeoutMs: 700 }));
    await opened;
    const filler = 'x'.repeat(100_000);
    const calls = Array.from({ length: 1000 }, () =>
      errorOf(link.session.call('tools/call', { name: 'x', filler })),
    );
    const counts: Record<string, number> = {};
    for (const { type, sent } of await Promise.all(calls)) {
      const key = `${type} ${sent}`;
      counts[key] = (counts[key] ?? 0) + 1;
    }
    expect(counts['OverloadedError false']).toBeGreaterThan(300);
    expect(counts['MCPTimeoutError false']).toBeGreaterThan(600);
    // at most what lies in the pipe counts as sent
    expect(counts['MCPTimeoutError true']).toBeLessThan(20);
    link.close('kill');
    await ended;
  });
});

describe('a server that floods stderr', () => {
  it('is drained without a deadlock, in flat memory, into a log that is capped (U1)', async () => {
    globalThis.gc?.();
    const before = process.memoryUsage().rss;
    const { tool, logs } = openLink(specOf('floods-stderr.mjs', {}, ['256']));
    expect(await tool('echo', { value: 'alive' })).toBe('alive');
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 2 ** 20);
    const logged = logs.reduce((sum, { text }) => sum + text.length, 0);
    expect(logged).toBeLessThan(64 * 2 ** 20);
    expect(logs.some(({ text }) => text.includes('bytes dropped'))).toBe(true);
  });

  it('cannot freeze the daemon with escape sequences that do not end, on stderr or stdout (U1)', async () => {
    const script = `
      const lines = (String.fromCharCode(27) + ';?'.repeat(4095) + '\\n').repeat(64);
      process.stderr.write(lines, () => process.stdout.write(lines, () => process.exit(1)));
    `;
    const spec = specOf('', { command: process.execPath, args: ['-e', script] });
    const before = process.cpuUsage();
    const { ended, logs } = openLink(spec, { era: remembering('mcp2025') });
    await ended;
    const { user, system } = process.cpuUsage(before);
    const linesOf = (stream: string) =>
      logs.filter(({ source, text }) => source === stream && text.includes(';?')).length;
    expect([linesOf('stderr'), linesOf('stdout')]).toEqual([64, 64]);
    // the work itself, which other work on the machine does not lengthen: the pattern of Node took 8 s for these lines
    expect((user + system) / 1000).toBeLessThan(2000);
  });
});

describe('a server that speaks another encoding', () => {
  it.each([
    ['utf-16le', 'ä ☃ 表 😀 ਊ'],
    ['utf-16be', 'ä ☃ 表 😀 ਊ'],
    ['windows-1252', 'äöü ÿ'],
    ['shift_jis', '表ソ plain'],
  ])('is understood: %s (FR-004)', async (encoding, value) => {
    const { tool, opened } = openLink(specOf('talks.mjs', { encoding }, [encoding]));
    expect((await opened).serverInfo).toMatchObject({ name: 'talks' });
    expect(await tool('echo', { value })).toBe(value);
  });
});
