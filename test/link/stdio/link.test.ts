import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NOISE_MS } from '../../support/noise.js';
import { alive, errorOf, openLink, specOf } from '../support.js';

describe('a stdio link', () => {
  it('shakes hands, lists and calls tools, and closes (FR-002, FR-004)', async () => {
    const { link, opened, tool, ended, table } = openLink(specOf('good.mjs'));
    expect(await opened).toMatchObject({ serverInfo: { name: 'mini' }, protocolVersion: '2025-11-25' });
    const pid = Number(await tool('pid'));
    expect(link.pids).toEqual([pid]);
    expect(table.list()).toMatchObject([{ pid, name: 'good' }]);
    expect(await tool('echo', { value: 'hällo ☃' })).toBe('hällo ☃');
    expect((await link.list('tools/list')).map(({ name }) => name)).toContain('echo');
    expect(await link.list('prompts/list')).toEqual([]);
    link.close();
    expect(await ended).toEqual({ kind: 'disconnected', reason: 'stopped', killed: false });
    expect([link.pids, table.size, alive(pid)]).toEqual([[], 0, false]);
  });

  it('sends calls that come before the handshake after it, in order', async () => {
    const { tool } = openLink(specOf('good.mjs'));
    expect(await Promise.all(['a', 'b', 'c'].map((value) => tool('echo', { value })))).toEqual([
      'a',
      'b',
      'c',
    ]);
  });

  it('gives arguments and working folder as they are in the spec (FR-004)', async () => {
    const args = ['--flag', 'two words', '$HOME', '', 'ü'];
    const { tool } = openLink(specOf('good.mjs', { cwd: tmpdir() }, args));
    expect(JSON.parse(await tool('argv'))).toEqual(args);
    expect(await tool('cwd')).toBe(tmpdir());
  });

  it('reports notifications', async () => {
    const { tool, notifications } = openLink(specOf('good.mjs'));
    await tool('notify');
    expect(notifications).toEqual([{ method: 'notifications/tools/list_changed', params: undefined }]);
  });

  it('passes progress to the call it belongs to', async () => {
    const { link } = openLink(specOf('good.mjs'));
    const heard: unknown[] = [];
    await link.session.call(
      'tools/call',
      { name: 'progress', arguments: { times: 2 } },
      { onProgress: (progress) => heard.push(progress) },
    );
    expect(heard).toEqual([
      { progress: 1, total: 2 },
      { progress: 2, total: 2 },
    ]);
  });

  it('cancels a call at the server', async () => {
    const { link, opened, logged } = openLink(specOf('good.mjs'));
    await opened;
    const control = new AbortController();
    const call = errorOf(link.session.call('tools/call', { name: 'wait' }, { signal: control.signal }));
    control.abort(new Error('no longer needed'));
    expect(await call).toMatchObject({ type: 'CancelledError', sent: true });
    expect(await logged(/^cancelled/)).toMatch(/cancelled \d+: no longer needed/);
  });

  it('passes a server error on unchanged', async () => {
    const { tool } = openLink(specOf('good.mjs'));
    expect(await errorOf(tool('refuse'))).toMatchObject({
      type: 'MCPProtocolError',
      rpc: { code: -32602, message: 'no', data: { field: 'x' } },
    });
  });

  it('pings, and rejects without an answer', async () => {
    const { link, opened, tool, ended } = openLink(specOf('good.mjs'));
    await opened;
    await link.ping(5000);
    void errorOf(tool('stop'));
    expect(await errorOf(link.ping(100))).toMatchObject({ type: 'MCPTimeoutError' });
    const ping = errorOf(link.ping(10_000));
    link.close('kill');
    expect(await ping).toMatchObject({ type: 'MCPConnectionError' });
    expect(await ended).toMatchObject({ killed: true });
    expect(await errorOf(link.ping(100))).toMatchObject({ type: 'MCPConnectionError' });
  });

  describe('to a server that dies', () => {
    it('fails the call at once, as sent, and runs the tool once (P4, I2, I10)', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'link-'));
      const { link, opened, tool, ended } = openLink(specOf('good.mjs'));
      await opened;
      const file = join(folder, 'marks');
      await tool('mark', { file });
      const calls = [tool('wait'), tool('exit', { code: 7 })].map(errorOf);
      const [wait, exit] = await Promise.all(calls);
      expect(wait).toMatchObject({ type: 'ServerCrashedError', sent: true, retryable: false });
      expect(exit?.message).toBe('good: exited with code 7');
      expect(await ended).toMatchObject({ kind: 'error', cause: 'exit', code: 7, signal: null });
      expect(await errorOf(tool('mark', { file }))).toMatchObject({
        type: 'ServerUnavailableError',
        sent: false,
      });
      expect(readFileSync(file, 'utf8')).toBe('ran\n');
      expect(link.session.state).toBe('closed');
      rmSync(folder, { recursive: true });
    });

    it('fails the call within 100 ms, asserted with room for a busy machine (P4)', async () => {
      const { link, opened, tool } = openLink(specOf('good.mjs'));
      await opened;
      const call = errorOf(tool('wait'));
      await tool('echo');
      const [pid = 0] = link.pids;
      process.kill(pid, 'SIGKILL');
      const killedAt = performance.now();
      expect(await call).toMatchObject({ type: 'ServerCrashedError', sent: true });
      expect(performance.now() - killedAt).toBeLessThan(100 + NOISE_MS);
    });

    it('marks a waiting call as not sent', async () => {
      const { opened, tool } = openLink(specOf('good.mjs', { maxInFlight: 1 }));
      await opened;
      const [running, waiting] = [tool('kill'), tool('echo')].map(errorOf);
      expect(await running).toMatchObject({ type: 'ServerCrashedError', sent: true });
      expect(await waiting).toMatchObject({ type: 'ServerCrashedError', sent: false, retryable: true });
    });

    it('still delivers the output before its death', async () => {
      for (const bytes of [10, 150_000]) {
        const { tool, ended } = openLink(specOf('answers-and-exits.mjs'));
        expect(await tool('last', { bytes })).toHaveLength(bytes);
        expect(await ended).toEqual({ kind: 'disconnected', reason: 'ended', killed: false });
      }
    });

    it('is a failure even with code 0, in mid-call or before the handshake (P4)', async () => {
      const { opened, tool, ended } = openLink(specOf('good.mjs'));
      await opened;
      expect(await errorOf(tool('exit', { code: 0 }))).toMatchObject({
        type: 'ServerCrashedError',
        sent: true,
      });
      expect(await ended).toMatchObject({ kind: 'error', cause: 'exit', code: 0 });
      const early = openLink(specOf('', { command: '/bin/sh', args: ['-c', 'exit 0'] }));
      expect(await early.ended).toMatchObject({ kind: 'error', cause: 'exit', code: 0 });
    });

    it('does not wait for a helper that holds its stdout, and ends the helper (P5, I5)', async () => {
      const { opened, tool, ended, table } = openLink(specOf('leaves-helper.mjs'));
      await opened;
      const helper = Number(await tool('helper'));
      expect(alive(helper)).toBe(true);
      const startedAt = performance.now();
      expect(await errorOf(tool('exit'))).toMatchObject({ type: 'ServerCrashedError', sent: true });
      expect(performance.now() - startedAt).toBeLessThan(500 + NOISE_MS);
      expect(await ended).toMatchObject({ cause: 'exit', code: 7 });
      expect([alive(helper), table.size]).toEqual([false, 0]);
    });

    it.runIf(process.platform === 'linux')('finds a helper in another session (P7, I5)', async () => {
      const { opened, tool, ended, logs } = openLink(specOf('escapes.mjs'));
      await opened;
      const helper = Number(await tool('helper'));
      await errorOf(tool('exit'));
      await ended;
      expect(alive(helper)).toBe(false);
      expect(logs).toContainEqual({ source: 'link', text: '1 processes had left the group and were killed' });
    });

    it('two hundred times at birth raises nothing uncaught (P13)', async () => {
      const endings = [];
      for (let round = 0; round < 4; round += 1) {
        const links = Array.from({ length: 50 }, () =>
          openLink(specOf('', { command: '/bin/sh', args: ['-c', 'exit 3'] })),
        );
        const calls = links.map(({ link }) =>
          errorOf(link.session.call('x', { filler: 'x'.repeat(100_000) })),
        );
        endings.push(...(await Promise.all(links.map(({ ended }) => ended))));
        for (const error of await Promise.all(calls)) expect(error).toMatchObject({ sent: false });
      }
      for (const ending of endings) expect(ending).toMatchObject({ kind: 'error', cause: 'exit', code: 3 });
      expect(endings).toHaveLength(200);
    });
  });

  describe('that is closed', () => {
    it('sends TERM when the end of input is not enough', async () => {
      const { link, opened, ended } = openLink(
        specOf('needs-term.mjs', { stop: { closeMs: 50, termMs: 5000 } }),
      );
      await opened;
      link.close();
      expect(await ended).toEqual({ kind: 'disconnected', reason: 'stopped', killed: false });
    });

    it('kills a server that ignores both at the end of its grace (P6, I7)', async () => {
      const { link, opened, tool, ended, logs } = openLink(
        specOf('stubborn.mjs', { stop: { closeMs: 200, termMs: 200 } }),
      );
      await opened;
      const pid = Number(await tool('pid'));
      const startedAt = performance.now();
      link.close();
      expect(await ended).toEqual({ kind: 'disconnected', reason: 'stopped', killed: true });
      expect(performance.now() - startedAt).toBeLessThan(400 + NOISE_MS);
      expect(alive(pid)).toBe(false);
      expect(logs.map(({ text }) => text)).toEqual(['got EOF', 'got TERM']);
    });

    it('kills a helper that ignores TERM after the leader has exited (P6, I5)', async () => {
      const { link, tool, ended } = openLink(
        specOf('leaves-stubborn-helper.mjs', { stop: { closeMs: 2000, termMs: 100 } }),
      );
      const helper = Number(await tool('helper'));
      link.close();
      expect(await ended).toMatchObject({ kind: 'disconnected', killed: false });
      expect(alive(helper)).toBe(false);
    });

    it('can skip to a later step', async () => {
      const { link, opened, ended } = openLink(
        specOf('stubborn.mjs', { stop: { closeMs: 60_000, termMs: 60_000 } }),
      );
      await opened;
      link.close();
      link.close('kill');
      expect(await ended).toMatchObject({ killed: true });
    });

    it('kills a process that was stopped with SIGSTOP (P8)', async () => {
      const { link, opened, tool, ended } = openLink(
        specOf('good.mjs', { stop: { closeMs: 20, termMs: 20 } }),
      );
      await opened;
      const call = errorOf(tool('stop'));
      link.close();
      expect(await ended).toMatchObject({ killed: true });
      expect(await call).toMatchObject({ type: 'ServerUnavailableError', sent: true });
    });

    it('lets a call in flight finish, refuses new ones, fails the rest as stopped', async () => {
      const { link, opened, tool } = openLink(specOf('good.mjs'));
      await opened;
      const [echo, wait] = [tool('echo', { value: 'in time' }), errorOf(tool('wait'))];
      link.close();
      expect(link.session.state).toBe('sealed');
      expect(await errorOf(tool('echo'))).toMatchObject({ type: 'ServerUnavailableError', sent: false });
      expect(await echo).toBe('in time');
      expect(await wait).toMatchObject({ type: 'ServerUnavailableError', sent: true, retryable: false });
    });

    it('a close during the handshake ends the link, which was never open', async () => {
      const { link, opened, ended } = openLink(specOf('silent.mjs'));
      link.close();
      expect(await ended).toMatchObject({ kind: 'disconnected', reason: 'stopped' });
      await expect(opened).rejects.toThrow();
    });

    it('reports its end exactly once, for any number of closes', async () => {
      const { link, opened, ended, endings } = openLink(specOf('good.mjs'));
      await opened;
      link.close();
      link.close('term');
      await ended;
      link.close('kill');
      await new Promise(setImmediate);
      expect(endings).toHaveLength(1);
    });
  });

  describe('to a server that closes a pipe and stays', () => {
    const spec = specOf('closes-pipe.mjs', { stop: { closeMs: 10, termMs: 10 } });

    it('is lost when no reply can come any more', async () => {
      const { opened, tool, ended } = openLink(spec);
      await opened;
      expect(await errorOf(tool('stdout'))).toMatchObject({ type: 'ServerCrashedError', sent: true });
      const message = 'closes-pipe: closed its stdout and did not exit';
      expect(await ended).toMatchObject({ kind: 'error', cause: 'lost', message });
    });

    it('is lost when no call can be sent any more (P13)', async () => {
      const { tool, ended } = openLink(spec);
      expect(await tool('stdin')).toBe('closed');
      expect(await errorOf(tool('stdin'))).toMatchObject({ type: 'ServerCrashedError', sent: true });
      const message = 'closes-pipe: closed its stdin and did not exit';
      expect(await ended).toMatchObject({ kind: 'error', cause: 'lost', message });
    });
  });
});
