import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NOISE_MS } from '../../support/noise.js';
import { remembering } from '../protocol/negotiation/remembering.js';
import { errorOf, openLink, specOf } from '../support.js';

describe('a server that cannot be started', () => {
  it('a missing command is reported at once, with command and PATH, as permanent (P10)', async () => {
    const spec = specOf('', { name: 'lost', command: 'no-such-command', args: ['--token=secret'] });
    const { link, ended, table } = openLink(spec, { env: { PATH: '/somewhere:/else' } });
    const call = errorOf(link.session.call('tools/list'));
    const ending = await ended;
    expect(ending).toEqual({
      kind: 'error',
      cause: 'spawn',
      permanent: true,
      message: `lost: command 'no-such-command' was not found; PATH is /somewhere:/else:${dirname(process.execPath)}`,
      fix: 'install no-such-command, or run "toolherd up --replace" from a shell whose PATH has it',
    });
    expect(await call).toMatchObject({ type: 'ServerUnavailableError', sent: false, retryable: false });
    expect([table.size, link.pids]).toEqual([0, []]);
  });

  it('searches its command in the declared PATH', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'start-'));
    writeFileSync(join(folder, 'only-here'), '#!/bin/sh\nexit 5\n');
    chmodSync(join(folder, 'only-here'), 0o700);
    const { ended } = openLink(
      specOf('', { command: 'only-here', args: [], env: { PATH: `${folder}:/bin` } }),
    );
    expect(await ended).toMatchObject({ cause: 'exit', code: 5 });
    rmSync(folder, { recursive: true });
  });

  it('a missing folder is reported so, not as a missing command (P10)', async () => {
    const { ended } = openLink(specOf('good.mjs', { cwd: '/no/such/folder' }));
    expect(await ended).toMatchObject({
      permanent: true,
      message: 'good: its working folder /no/such/folder does not exist',
    });
  });

  it('a folder that is a file is reported so (P10)', async () => {
    const { ended } = openLink(specOf('good.mjs', { cwd: process.execPath }));
    expect(await ended).toMatchObject({
      permanent: true,
      message: `good: its working folder ${process.execPath} is not a folder`,
      fix: "correct 'cwd' of good",
    });
  });

  it('a missing interpreter of the first line is reported so, not as a missing command (P10)', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'start-'));
    writeFileSync(join(folder, 'old'), '#!/no/such/python\n', { mode: 0o700 });
    const { ended } = openLink(specOf('', { name: 'old', command: './old', args: [], cwd: folder }));
    expect(await ended).toMatchObject({
      permanent: true,
      message: "old: command './old' is there, but not the program that is to run it",
      fix: 'install what its first line names (#!…), or what it was built for',
    });
    rmSync(folder, { recursive: true });
  });

  it('a command that is no program is reported so', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'start-'));
    writeFileSync(join(folder, 'odd'), 'text', { mode: 0o600 });
    const { ended } = openLink(specOf('', { name: 'odd', command: join(folder, 'odd'), args: [] }));
    const message = expect.stringMatching(/^odd: command '.*odd' may not be executed; PATH is /);
    expect(await ended).toMatchObject({ cause: 'spawn', permanent: true, message });
    rmSync(folder, { recursive: true });
  });

  it('an argument that no program can take is reported so', async () => {
    const { ended } = openLink(specOf('good.mjs', {}, ['nul\0byte']));
    const fix = "correct 'command', 'args', 'env' or 'cwd' of good";
    expect(await ended).toMatchObject({ cause: 'spawn', permanent: true, fix });
  });
});

describe('the output of a server', () => {
  it('is logged line by line to the end, without the secrets it was given (U1, X1)', async () => {
    const script = 'echo "token is $TOKEN" >&2; echo "out: $TOKEN"; printf "no newline" >&2; exit 1';
    const spec = specOf('', { command: '/bin/sh', args: ['-c', script], env: { TOKEN: 'sk-canary-123' } });
    const { ended, logs } = openLink(spec, { era: remembering('mcp2025') });
    await ended;
    expect(logs).toEqual(
      expect.arrayContaining([
        { source: 'stderr', text: 'token is [redacted:TOKEN]' },
        { source: 'stdout', text: 'out: [redacted:TOKEN]' },
        { source: 'stderr', text: 'no newline' },
      ]),
    );
    expect(logs).toHaveLength(4);
    expect(logs.at(-1)).toMatchObject({
      source: 'link',
      text: expect.stringMatching(/exited with code 1 before it had answered initialize \(command: /),
    });
  });
});

describe('a handshake', () => {
  it('that never comes ends at start_timeout, with the process gone (P12, I5)', async () => {
    const { link, ended, table } = openLink(specOf('silent.mjs', { startTimeoutMs: 200 }));
    const call = errorOf(link.session.call('tools/list'));
    const startedAt = performance.now();
    expect(await call).toMatchObject({ type: 'MCPTimeoutError', sent: false, retryable: true });
    expect(await ended).toMatchObject({
      kind: 'error',
      cause: 'timeout',
      message: expect.stringMatching(/^silent: no initialize reply in 0.2 s \(command: .*silent.mjs\)$/),
      why: 'nothing was written to stderr',
    });
    expect(performance.now() - startedAt).toBeLessThan(200 + NOISE_MS);
    expect(table.size).toBe(0);
  });

  it('that is cut short by an exit says so', async () => {
    const { ended } = openLink(specOf('exits-at-start.mjs'));
    expect(await ended).toMatchObject({
      cause: 'exit',
      code: 3,
      message: expect.stringMatching(
        /^exits-at-start: exited with code 3 before it had answered initialize \(command: .*exits-at-start.mjs\)$/,
      ),
    });
  });

  it.each([
    ['shape', /the reply to initialize has the wrong shape/],
    ['version', /protocol version is not supported: 1999-01-01/],
    ['huge', /a message over max_message_bytes/],
  ])('the wrong %s is a protocol failure', async (kind, message) => {
    const { ended } = openLink(specOf('refuses.mjs', { maxMessageBytes: 50_000 }, [kind]));
    expect(await ended).toMatchObject({
      kind: 'error',
      cause: 'protocol',
      message: expect.stringMatching(message),
    });
  });

  it('that is refused says why, without the secret the server repeats (X1)', async () => {
    const { ended } = openLink(specOf('refuses.mjs', { env: { API_TOKEN: 'sk-canary-123' } }, ['error']));
    const ending = await ended;
    expect(ending).toMatchObject({
      cause: 'protocol',
      message: expect.stringContaining('bad token [redacted:API_TOKEN]'),
    });
    expect(JSON.stringify(ending)).not.toContain('canary');
  });
});
