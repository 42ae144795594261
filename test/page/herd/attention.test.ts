import { describe, expect, it } from 'vitest';
import type { ServerStatus } from '../../../src/fleet/fleet.js';
import { attentionOf } from '../../../src/page/herd/attention.js';
import { daemonOf, serverOf } from '../support.js';

const NOW = Date.parse('2026-11-18T12:00:01.000Z');
const of = (...servers: ServerStatus[]) => attentionOf({ servers, daemon: daemonOf() }, NOW);

describe('what needs attention', () => {
  it('a healthy herd needs none', () => {
    const resting = serverOf('b', { state: 'disconnected', detail: 'idle', pids: [] });
    const stopped = serverOf('c', { state: 'disconnected', detail: 'stopped', pids: [] });
    const off = serverOf('d', { state: 'created', detail: 'disabled', pids: [] });
    expect(of(serverOf('a'), resting, stopped, off)).toEqual([]);
  });

  it('the most urgent stands first: config, quarantine, entry, authorisation, wait', () => {
    const servers = [
      serverOf('waits', { state: 'error', detail: 'waiting' }),
      serverOf('asks', { state: 'error', detail: 'needs_auth' }),
      serverOf('wrong', { state: 'error', detail: 'misconfigured' }),
      serverOf('dead', { state: 'error', detail: 'quarantined' }),
    ];
    const found = attentionOf({ servers, daemon: daemonOf({ config_error: 'line 3' }) }, NOW);
    expect(found.map(({ server }) => server?.name ?? 'daemon')).toEqual([
      'daemon',
      'dead',
      'wrong',
      'asks',
      'waits',
    ]);
  });

  it('servers in one state keep the order of the config', () => {
    const found = of(
      serverOf('b', { state: 'error', detail: 'waiting' }),
      serverOf('a', { state: 'error', detail: 'waiting' }),
    );
    expect(found.map(({ server }) => server?.name)).toEqual(['b', 'a']);
  });

  it('the cause is in words, without the name of the server again', () => {
    const last_error = { message: 'a: exited with code 9', cause: 'exited', why: 'no disk', at: '' };
    const [one] = of(serverOf('a', { state: 'error', detail: 'waiting', last_error }));
    expect(one?.why).toBe('exited with code 9\nno disk');
  });

  it('each state offers what helps', () => {
    const help = (detail: ServerStatus['detail']) =>
      of(serverOf('a', { state: 'error', detail }))[0]?.help[0];
    expect(help('quarantined')).toMatchObject({ kind: 'order', order: 'reset' });
    expect(help('waiting')).toMatchObject({ kind: 'order', order: 'start' });
    expect(help('needs_auth')).toMatchObject({ kind: 'authorize' });
    expect(help('misconfigured')).toMatchObject({ kind: 'go', page: 'config' });
  });

  it('a misconfigured server names the place of each problem', () => {
    const problem = {
      type: 'ConfigError' as const,
      message: 'X is not set',
      fix: 'set X',
      file: '/c.yaml',
      line: 7,
      column: 1,
      path: '',
    };
    const last_error = { message: 'wrong', cause: 'config', at: '', problems: [problem] };
    const [one] = of(serverOf('a', { state: 'error', detail: 'misconfigured', last_error }));
    expect(one).toMatchObject({ why: 'X is not set, at /c.yaml:7', fix: 'set X' });
  });

  it('a start of a second is not shown, and one of a minute is', () => {
    const starting = { state: 'connecting', detail: 'running' } as const;
    expect(of(serverOf('a', starting))).toEqual([]);
    expect(of(serverOf('a', { ...starting, since: '2026-11-18T11:59:00.000Z' }))).toHaveLength(1);
  });

  it('a server that is started again after a failure stays in the list', () => {
    const last_error = { message: 'a: exited with code 9', cause: 'exited', at: '' };
    const [one] = of(serverOf('a', { state: 'connecting', last_error }));
    expect(one).toMatchObject({ what: 'It failed and is being started again.', why: 'exited with code 9' });
    expect(of(serverOf('a', { last_error }))).toEqual([]);
  });

  it('a connected server that offers nothing is not called healthy', () => {
    const [one] = of(serverOf('a', { tools: 0 }));
    expect(one?.what).toContain('offers no tools');
  });

  it('a connected server whose lists are not read yet is not blamed', () => {
    expect(of(serverOf('a', { tools: 0, lists: { tools: { freshness: 'unknown' } } }))).toEqual([]);
  });

  it('blocked tools come before tools that only differ from their pins', () => {
    const found = of(
      serverOf('differs', { unaccepted: { tools: 1, blocked: false } }),
      serverOf('blocked', { unaccepted: { tools: 2, blocked: true } }),
    );
    expect(found.map(({ what }) => what)).toEqual([
      '2 tools differ from their pins and are blocked.',
      '1 tool differs from its pin.',
    ]);
  });
});
