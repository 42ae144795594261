import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { config, server } from '../../../faults/config.js';
import { approve, type OAuthBehaviour, startProtected } from '../../../link/auth/oauth-server.js';
import { COMMAND, type Outcome, toolherd } from '../../../support/command.js';
import { startHerd, until } from '../../../support/herd.js';

const MARK = 'CANARY';

/** A real daemon with one server that requires a token, and the command. */
async function startGuarded(behaviour: OAuthBehaviour = {}, more = '', transport: 'http' | 'sse' = 'http') {
  const guarded = await startProtected({ mark: MARK, ...behaviour });
  const url = transport === 'sse' ? guarded.sseUrl : guarded.url;
  const herd = await startHerd(`version: "1.0"
mcp_servers:
  - {name: guarded, description: d, server: g, transport: ${transport}, url: "${url}"${more}}
`);
  const { folder } = herd.home;
  const options = { cwd: folder, env: { TOOLHERD_HOME: folder } };
  const run = (...args: string[]): Promise<Outcome> => toolherd(args, options);
  /** Runs `auth` without a terminal, and opens its url like a browser. */
  const authorise = (args: string[], input = '') =>
    new Promise<Outcome>((resolve) => {
      const { environment } = herd.home;
      const child = spawn(process.execPath, [COMMAND, 'auth', 'guarded', ...args], {
        cwd: folder,
        env: environment,
      });
      const said = { stdout: '', stderr: '' };
      child.stderr.on('data', (chunk) => {
        said.stderr += chunk;
      });
      createInterface(child.stdout).on('line', (line) => {
        said.stdout += `${line}\n`;
        if (line.startsWith('http')) void approve(line).then((page) => page.text());
      });
      child.stdin.end(input);
      child.on('close', (code) => resolve({ status: code ?? -1, ...said }));
    });
  return { guarded, herd, run, authorise };
}

describe('toolherd auth', () => {
  it('a server that needs an authorisation is reported as such, then authorised, then called', async () => {
    const { herd, run, authorise, guarded } = await startGuarded();
    const refused = await run('call', 'guarded.echo', 'value=1');
    expect(refused.status).toBe(77);
    expect(refused.stderr).toMatch(
      /AuthRequiredError: guarded: .*authorisation[\s\S]*fix: toolherd auth guarded/,
    );
    expect(await herd.status('guarded')).toMatchObject({
      state: 'error',
      detail: 'needs_auth',
      restarts: 0,
      next_retry_at: null,
      last_error: { cause: 'auth', fix: 'toolherd auth guarded' },
    });
    const requests = guarded.asked.length;
    expect(await herd.say('guarded', 'echo')).toContain('needs an authorisation');
    expect(guarded.asked).toHaveLength(requests);

    expect(await authorise([])).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^http.*\nauthorised: guarded \(connected, running\)\n$/),
    });
    expect(await herd.say('guarded', 'echo', { value: 'you' })).toBe('hi you');
  });

  it('eight calls at once with an expired token all succeed, and the token is renewed once', async () => {
    const { herd, authorise, guarded } = await startGuarded();
    await authorise([]);
    guarded.expire();
    const calls = Array.from({ length: 8 }, (_, n) => herd.say('guarded', 'echo', { value: n }));
    expect(await Promise.all(calls)).toEqual(Array.from({ length: 8 }, (_, n) => `hi ${n}`));
    expect(guarded.count('grant refresh_token')).toBe(1);
  });

  it('works over SSE', async () => {
    const { herd, run, authorise, guarded } = await startGuarded({}, '', 'sse');
    expect((await run('start', 'guarded', '--wait')).status).toBe(77);
    expect(await herd.status('guarded')).toMatchObject({
      detail: 'needs_auth',
      last_error: { cause: 'auth' },
    });
    expect((await run('why', 'guarded')).stdout).toContain('What you can do: toolherd auth guarded.');
    expect((await authorise([])).status).toBe(0);
    guarded.expire();
    expect(await herd.say('guarded', 'echo', { value: 'sse' })).toBe('hi sse');
    guarded.revoke();
    expect(await herd.say('guarded', 'echo')).toContain('wants a new authorisation');
    await until(async () => (await herd.status('guarded')).detail === 'needs_auth');
  });

  it('a server whose token cannot be renewed is needs_auth again, without repeated tries', async () => {
    const { herd, authorise, guarded } = await startGuarded();
    await authorise([]);
    guarded.revoke();
    expect(await herd.say('guarded', 'echo')).toContain('wants a new authorisation');
    await until(async () => (await herd.status('guarded')).detail === 'needs_auth');
    expect(guarded.count('grant refresh_token')).toBe(1);
    await authorise([]);
    expect(await herd.say('guarded', 'echo', { value: 'again' })).toBe('hi again');
  });

  it('a call that needs more scope fails alone, and succeeds after the next authorisation', async () => {
    const { herd, run, authorise } = await startGuarded({ callScope: 'write' });
    await authorise([]);
    const { status, stderr } = await run('call', 'guarded.echo');
    expect([status, stderr]).toEqual([77, expect.stringContaining("asks for the scope 'write'")]);
    expect(await herd.status('guarded')).toMatchObject({ state: 'connected', detail: 'running' });
    expect((await authorise([])).stdout).toContain('scope=basic+write');
    expect(await herd.say('guarded', 'echo', { value: 'more' })).toBe('hi more');
  });

  it('takes a client that was registered by hand, with its secret from stdin', async () => {
    const { herd, run, authorise } = await startGuarded({ clients: { mine: `${MARK}-mine` } });
    expect(await run('auth', 'guarded')).toMatchObject({
      status: 77,
      stderr: expect.stringContaining('--client-id ID --client-secret-stdin'),
    });
    const args = ['--client-id', 'mine', '--client-secret-stdin'];
    expect((await authorise(args, `${MARK}-mine\n`)).status).toBe(0);
    expect(await herd.say('guarded', 'echo', { value: 'mine' })).toBe('hi mine');
    expect(await run('auth', 'guarded', '--client-secret-stdin')).toMatchObject({ status: 2 });
  });

  it('--logout forgets the tokens: the next call needs an authorisation', async () => {
    const { herd, run, authorise } = await startGuarded();
    await authorise([]);
    expect(await run('auth', 'guarded', '--logout')).toMatchObject({
      status: 0,
      stdout: 'forgotten: guarded\n',
    });
    await until(async () => (await herd.status('guarded')).detail === 'needs_auth');
    expect((await run('call', 'guarded.echo')).status).toBe(77);
    expect((await run('auth', 'guarded', '--logout')).stdout).toBe('no tokens are stored for guarded\n');
  });

  it('gives up after --timeout: exit 124', async () => {
    const { run } = await startGuarded();
    const { status, stderr } = await run('auth', 'guarded', '--timeout', '200ms');
    expect([status, stderr]).toEqual([124, expect.stringContaining('it was not authorised within 200ms')]);
  });

  it('a server with an Authorization header in the config gets no OAuth: the error names the header, never its value', async () => {
    const { herd, run, guarded } = await startGuarded(
      {},
      `, headers: {Authorization: "Bearer ${MARK}-header"}`,
    );
    const { status, stderr } = await run('call', 'guarded.echo');
    expect(status).toBe(77);
    expect(stderr).toContain("'headers.Authorization'");
    expect((await herd.status('guarded')).detail).toBe('needs_auth');
    const auth = await run('auth', 'guarded');
    expect([auth.status, auth.stderr]).toEqual([77, expect.stringContaining("'headers.Authorization'")]);
    expect(stderr + auth.stderr).not.toContain(MARK);
    expect(guarded.asked).toEqual([]);
  });

  it('secrets are in one file only, and in no output', async () => {
    const { herd, run, authorise, guarded } = await startGuarded();
    const shown: string[] = [];
    const { stdout, stderr } = await authorise(['-v']);
    shown.push(stdout.replace(/client_id=[^&]*/, ''), stderr);
    await herd.say('guarded', 'echo');
    guarded.expire();
    await herd.say('guarded', 'echo');
    shown.push(
      JSON.stringify(await herd.fleet.inspect('guarded')),
      JSON.stringify(await herd.fleet.status()),
    );
    guarded.revoke();
    shown.push(await herd.say('guarded', 'echo'));
    await until(async () => (await herd.status('guarded')).detail === 'needs_auth');
    for (const command of ['status', 'why', 'inspect', 'logs']) {
      const { stdout: out, stderr: err } = await run(command, 'guarded', '--json');
      shown.push(out, err);
    }
    expect(shown.join('\n')).not.toContain(MARK);
    const files = readdirSync(herd.home.folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(herd.home.folder, name))
      .filter((name) => statSync(name).isFile());
    const holding = files.filter((name) => readFileSync(name, 'utf8').includes(MARK));
    expect(holding).toEqual([join(herd.home.folder, 'state', 'auth.json')]);
    expect(statSync(holding[0]!).mode & 0o777).toBe(0o600);
  });

  it('a server that is a command needs no authorisation, and auth does not start it', async () => {
    const herd = await startHerd(config([server('good', 'good.mjs')]));
    const { folder } = herd.home;
    const { status, stdout } = await toolherd(['auth', 'good'], {
      cwd: folder,
      env: { TOOLHERD_HOME: folder },
    });
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: 'good needs no authorisation: it is a command, not a remote server\n',
    });
    expect((await herd.fleet.status(['good'])).servers[0]?.pids).toEqual([]);
  });
});
