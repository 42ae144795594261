import { describe, expect, it } from 'vitest';
import type { ToolResult } from '../../src/fleet/fleet.js';
import { toolherd } from '../support/command.js';
import { startHerd, until } from '../support/herd.js';
import { config, server } from './config.js';

const NAMES = ['a', 'b', 'c', 'd'];
const EIGHT = [...'abcdefgh'];
const herdOfFour = () => startHerd(config(NAMES.map((name) => server(name, 'good.mjs'))));
const texts = (results: readonly ToolResult[]) =>
  results.map(({ content, error }) => error?.type ?? (content[0]?.type === 'text' ? content[0].text : ''));
const echo = (name: string, value: string) => ({ server: name, tool: 'echo', arguments: { value } });

describe('many calls at once', () => {
  /** Every eighth call is for the server that hangs. */
  const manyCalls = () =>
    Array.from({ length: 64 }, (_, index) => {
      const name = EIGHT[index % 8]!;
      return name === 'h' ? { server: 'h', tool: 'wait' } : echo(name, String(index));
    });
  const others = Array.from({ length: 64 }, (_, index) => index).filter((index) => index % 8 !== 7);

  it('56 of 64 calls over 8 servers, one of which hangs, have results meanwhile; the other 8 end when cancelled', async () => {
    const { fleet } = await startHerd(config(EIGHT.map((name) => server(name, 'good.mjs'))));
    const come: number[] = [];
    const abort = new AbortController();
    const all = fleet.callMany(
      { calls: manyCalls() },
      { signal: abort.signal, onResult: (index) => void come.push(index) },
    );
    await until(() => come.length === 56);
    expect(come.sort((a, b) => a - b)).toEqual(others);
    // it may have been the last to start
    await until(async () => (await fleet.status(['h'])).servers[0]?.in_flight === 8);
    abort.abort();
    const told = texts(await all);
    expect(told.filter((_, index) => index % 8 === 7)).toEqual(Array(8).fill('CancelledError'));
    expect(told.filter((_, index) => index % 8 !== 7)).toEqual(others.map(String));
    await until(async () => (await fleet.status(['h'])).servers[0]?.in_flight === 0);
    expect((await fleet.call(echo('h', 'again'))).success).toBe(true);
  });

  it('64 calls of one connection give the same results', async () => {
    const { fleet } = await startHerd(config(EIGHT.map((name) => server(name, 'good.mjs'))));
    const come: number[] = [];
    const abort = new AbortController();
    const all = manyCalls().map(async (call, index) => {
      const result = await fleet.call(call, { signal: abort.signal });
      come.push(index);
      return result;
    });
    await until(() => come.length === 56);
    expect(come.sort((a, b) => a - b)).toEqual(others);
    abort.abort();
    expect(texts(await Promise.all(all)).filter((_, index) => index % 8 !== 7)).toEqual(others.map(String));
    await until(async () => (await fleet.status(['h'])).servers[0]?.in_flight === 0);
  });

  it('calls with mode first end at the first success, and running calls are cancelled at their servers', async () => {
    const { fleet, status } = await herdOfFour();
    const calls = [{ server: 'a', tool: 'wait' }, echo('b', 'quick'), { server: 'absent', tool: 'x' }];
    expect(texts(await fleet.callMany({ calls, mode: 'first' }))).toEqual([
      'CancelledError',
      'quick',
      'ServerNotFoundError',
    ]);
    await until(async () => (await status('a')).in_flight === 0);
  });

  it('have a quorum and a common deadline; an invalid request is refused', async () => {
    const { fleet } = await herdOfFour();
    const calls = [echo('a', '1'), echo('b', '2'), { server: 'c', tool: 'wait' }];
    const quorum = await fleet.callMany({ calls, mode: 'quorum', quorum: 2 });
    expect(texts(quorum)).toEqual(['1', '2', 'CancelledError']);
    expect(texts(await fleet.callMany({ calls, timeout_ms: 3000 }))).toEqual(['1', '2', 'MCPTimeoutError']);
    await expect(fleet.callMany({ calls, mode: 'quorum' })).rejects.toThrow("'quorum' is missing");
    const bad = [echo('a', '1'), { server: 'a' }] as never;
    await expect(fleet.callMany({ calls: bad })).rejects.toThrow(
      "'tool' must be a non-empty string (in 'calls[1]')",
    );
  });

  it('a broadcast reaches every selected server that has the tool', async () => {
    const { fleet } = await herdOfFour();
    const broadcast = { tool: 'echo', arguments: { value: 'all' } };
    expect(texts(await fleet.broadcast(broadcast))).toEqual(['all', 'all', 'all', 'all']);
    const some = await fleet.broadcast({ ...broadcast, servers: ['[ab]', 'b*', 'd'] });
    expect(some.map(({ metadata }) => metadata.server)).toEqual(['b', 'd']);
    expect(await fleet.broadcast({ tool: 'absent' })).toEqual([]);
  });

  it('results of the command come as an array or lines, and have their number or are JSON', async () => {
    const { home, fleet } = await herdOfFour();
    await fleet.tools('a');
    const run = (input: string, ...args: string[]) =>
      toolherd(['call-many', '-', ...args], { env: home.environment, cwd: home.folder, input });
    const lines = [echo('a', 'one'), { server: 'a', tool: 'nope' }]
      .map((call) => JSON.stringify(call))
      .join('\n');
    const both = await run(lines);
    expect([both.status, both.stdout.split('\n').sort()]).toEqual([
      1,
      ['', '1  a.echo  one', expect.stringMatching(/^2 {2}a\.nope {2}MCPToolNotFoundError: /)],
    ]);
    const json = await run(`[${JSON.stringify(echo('b', 'two'))}]`, '--json');
    expect([json.status, JSON.parse(json.stdout).results]).toEqual([
      0,
      [expect.objectContaining({ success: true })],
    ]);
    const wrong = await run('{"server": ', '--first');
    expect([wrong.status, wrong.stderr]).toEqual([2, expect.stringContaining('line 1 is not valid JSON')]);
    expect((await run('[]')).stderr).toContain('the file holds no calls');
    expect((await run('[1]', '--concurrency', 'x')).status).toBe(2);
  });
});
