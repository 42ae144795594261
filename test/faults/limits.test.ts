import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { remoteFleet } from '../../src/ipc/client/remote-fleet.js';
import { Peer } from '../../src/ipc/jsonrpc/peer.js';
import { type Daemon, type Home, killNow, makeHome, startHerd, until, watchdogOf } from '../support/herd.js';
import { config, server } from './config.js';
import { measured } from './measured.js';

const FILES = 64;
const isRoot = process.getuid?.() === 0;
const QUICK = { backoff: { min: 0.05, max: 0.2 }, max_restarts: 1 };
const descriptors = ({ pid }: Daemon) => readdirSync(`/proc/${pid}/fd`).length;
const highestOf = ({ pid }: Daemon) => Math.max(...readdirSync(`/proc/${pid}/fd`).map(Number));
const logOf = ({ folder }: Home) => readFile(join(folder, 'state', 'logs', 'daemon.log'), 'utf8');

/** Connections that say nothing, until one more is refused. They are let in one by one, so their number is known. */
async function crowd({ socket }: Home): Promise<Socket[]> {
  const clients: Socket[] = [];
  onTestFinished(() => {
    for (const client of clients) client.destroy();
  });
  let closed = 0;
  while (closed === 0) {
    const client = connect(socket);
    clients.push(client);
    client
      .on('error', () => undefined)
      .on('close', () => {
        closed += 1;
      });
    // the last one is accepted too, and gets the refusal
    client.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
    const heard = await new Promise<string>((resolve) => {
      client.once('data', (chunk) => resolve(String(chunk))).once('close', () => resolve(''));
    });
    if (heard.includes('OverloadedError')) break;
  }
  return clients;
}

describe.runIf(process.platform === 'linux')('P14: at the limit of open files', () => {
  it('a new connection gets an error with a fix; running servers are served; it recovers without an order', async () => {
    const entries = ['one', 'two', 'three'].map((name) => server(name, 'good.mjs', QUICK));
    const herd = await startHerd(config(entries), { shell: `ulimit -n ${FILES}` });
    const { home, daemon, fleet, say } = herd;
    const pid = await say('one', 'pid');
    const clients = await crowd(home);
    expect(descriptors(daemon)).toBeLessThan(FILES);

    const refused = await connectionOf(home)
      .status()
      .catch((error) => error);
    expect(refused).toMatchObject({
      type: 'OverloadedError',
      message: `the daemon may have ${FILES} files open and has no room for another connection`,
      retryable: true,
      sent: false,
    });
    expect(refused.fix).toContain('ulimit -n');
    expect(await overHttp(home)).toMatch(/^HTTP\/1\.1 503 .*"type":"OverloadedError"/s);
    expect(await logOf(home)).toContain('connections are turned away');

    // there is room for a server yet, but not for any number
    expect(await say('one', 'pid')).toBe(pid);
    expect(await say('two', 'echo', { value: 'here' })).toBe('here');
    expect((await fleet.status()).servers.map(({ detail }) => detail)).toEqual([
      'running',
      'running',
      'idle',
    ]);

    for (const client of clients) client.destroy();
    await until(() =>
      connectionOf(home)
        .status()
        .then(
          () => true,
          () => false,
        ),
    );
    expect(await say('three', 'echo', { value: 'well' })).toBe('well');
    measured(
      `P14: ${FILES} files: ${clients.length} idle connections, the next one refused with a reason, ${entries.length} of ${entries.length} servers answered`,
    );
  });

  it('a server that cannot start gives the reason, and is tried until it succeeds', async () => {
    const entries = ['one', 'two'].map((name) => server(name, 'good.mjs', QUICK));
    const herd = await startHerd(config(entries));
    const { daemon, fleet, say, status, home } = herd;
    const pid = await say('one', 'pid');
    limit(daemon, 'nofile', highestOf(daemon) + 1);
    const clients = await crowd(home);
    const { error } = await fleet.call({ server: 'two', tool: 'pid' });
    expect(error).toMatchObject({ type: 'ServerUnavailableError', sent: false, retryable: true });
    expect(error?.message).toContain(
      'could not be started: the system refuses more processes or files (EMFILE)',
    );
    expect(error?.fix).toContain('ulimit -n');
    await until(async () => (await status('two')).incarnation > 4);
    expect(await status('two')).toMatchObject({ last_error: { cause: 'spawn' }, pids: [] });
    expect(await say('one', 'pid')).toBe(pid);
    // no descriptor is left: a new connection is closed at once, and the daemon answers the others
    const late = connect(home.socket).on('error', () => undefined);
    await once(late, 'close');
    expect((await fleet.status()).daemon.pid).toBe(daemon.pid);

    limit(daemon, 'nofile', 4096);
    for (const client of clients) client.destroy();
    await until(async () => (await status('two')).state === 'connected');
    expect(await say('two', 'echo', { value: 'well' })).toBe('well');
    expect((await connectionOf(home).status()).daemon.pid).toBe(daemon.pid);
    measured(
      `P14: no descriptor left: started ${(await status('two')).incarnation} times, connected when there was room`,
    );
  });

  it('connections to its port take only a part of them, so that the socket and the servers have theirs', async () => {
    const entries = [server('one', 'good.mjs', QUICK)];
    const http = { listen: '127.0.0.1:0' };
    const herd = await startHerd(config(entries, { http }), { shell: `ulimit -n ${FILES}` });
    const { url } = (await herd.fleet.status()).daemon.http!;
    let closed = 0;
    // without the token: every local user can do this
    const clients = Array.from({ length: 2 * FILES }, () =>
      connect(Number(new URL(url!).port), '127.0.0.1')
        .on('error', () => undefined)
        .on('close', () => {
          closed += 1;
        })
        .resume(),
    );
    onTestFinished(() => {
      for (const client of clients) client.destroy();
    });
    await until(() => closed >= FILES);
    expect(descriptors(herd.daemon)).toBeLessThan(FILES - 8);
    expect((await connectionOf(herd.home).status()).daemon.pid).toBe(herd.daemon.pid);
    expect(await herd.say('one', 'echo', { value: 'well' })).toBe('well');
  });
});

describe.runIf(process.platform === 'linux')('P14: at the limit of processes', () => {
  it('a refused fork is an error to its caller; servers and the watchdog return with room', async () => {
    if (!isRoot) {
      console.warn('P14: not root: no daemon of another user can be started, so no fork was refused');
      return;
    }
    const uid = 200_000 + (process.pid % 50_000);
    const entries = ['one', 'two'].map((name) => server(name, 'good.mjs', QUICK));
    const home = makeHome(config(entries));
    // another user, to whom the limit applies, and who may read what the tests built
    const caps = '--inh-caps=+dac_read_search --ambient-caps=+dac_read_search';
    const shell = `chown -R ${uid} "$HOME"; set -- setpriv ${asUser(uid).join(' ')} ${caps} "$@"`;
    const daemon = await home.start({ shell });
    const fleet = connectionOf(home);
    const call = (name: string) => fleet.call({ server: name, tool: 'echo', arguments: { value: 'well' } });
    expect(await call('one')).toMatchObject({ success: true });

    limit(daemon, 'nproc', 1, uid);
    const { error } = await call('two');
    expect(error).toMatchObject({ type: 'ServerUnavailableError', sent: false, retryable: true });
    expect(error?.message).toContain(
      'could not be started: the system refuses more processes or files (EAGAIN)',
    );
    expect(error?.fix).toContain('ulimit -u');
    const watchdog = watchdogOf(daemon.id)!;
    killNow(watchdog);
    await until(async () => /the watchdog could not be started .*EAGAIN/.test(await logOf(home)));
    expect(await call('one')).toMatchObject({ success: true });

    limit(daemon, 'nproc', 4096, uid);
    await until(async () => (await call('two')).success);
    expect(await until(() => watchdogOf(daemon.id))).not.toBe(watchdog);
    expect((await fleet.status()).servers.map(({ detail }) => detail)).toEqual(['running', 'running']);
  });
});

/** Also to a daemon of another user, which our own client would refuse. */
function connectionOf({ socket }: Home) {
  const stream = connect(socket);
  const peer = new Peer(stream, { badLines: 'fatal' });
  onTestFinished(() => peer.destroy());
  return remoteFleet(peer);
}

function overHttp({ socket }: Home): Promise<string> {
  const stream = connect(socket);
  stream.write('GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n');
  return text(stream);
}

/** `uid`: the owner of the daemon, who alone may do that. The hard limit stays, so that the soft one can be raised again. */
function limit({ pid }: Daemon, what: 'nofile' | 'nproc', most: number, uid?: number): void {
  const become = uid === undefined ? [] : ['setpriv', ...asUser(uid)];
  const [program = '', ...args] = [...become, 'prlimit', '--pid', String(pid), `--${what}=${most}:`];
  execFileSync(program, args);
}

function asUser(uid: number): string[] {
  return [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
}
