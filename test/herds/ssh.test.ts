import { statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { connectFleet } from '../../src/library/connect-fleet.js';
import { config, server } from '../faults/config.js';
import { COMMAND, toolherd } from '../support/command.js';
import {
  type Herd,
  type Home,
  herdIn,
  isAlive,
  killDaemon,
  killNow,
  makeHome,
  processesOf,
  startHerd,
  until,
} from '../support/herd.js';
import { NOISE_MS } from '../support/noise.js';
import { type Sshd, startLine, startSshd, whyNoSshd } from './sshd.js';
import { herds } from './support.js';

const missing = whyNoSshd();
if (missing !== undefined) console.warn(`the tests of herds by ssh are left out: ${missing}`);

const commandIn = ({ folder }: Home) =>
  `env TOOLHERD_HOME=${folder} HOME=${folder} ${process.execPath} ${COMMAND}`;

interface Options {
  /** Of the ssh config. */
  changes?: Record<string, string>;
  herd?: Record<string, unknown>;
}

/** A daemon whose config has the herd `desk`, by ssh. */
function startHere(sshd: Sshd, desk: Home, { changes, herd }: Options = {}): Promise<Herd> {
  const PATH = `${sshd.client(changes)}:${process.env.PATH}`;
  const text = config([]) + herds({ name: 'desk', ssh: 'desk', command: commandIn(desk), ...herd });
  return startHerd(text, { environment: { PATH } });
}

const echo = async ({ fleet }: Herd, value = 'hi') =>
  (await fleet.call({ server: 'desk/good', tool: 'echo', arguments: { value } })).success;

const isConnected = async (here: Herd) => (await here.status('desk')).state === 'connected';

const failureOf = (here: Herd) => until(async () => (await here.status('desk')).last_error);

describe.runIf(missing === undefined)('a herd by ssh', () => {
  const deskConfig = config([server('good', 'good.mjs')]);

  it('starts the daemon there, lists and calls its servers, over a socket that only this user can open', async () => {
    const sshd = await startSshd();
    const desk = makeHome(deskConfig);
    const here = await startHere(sshd, desk);
    await until(() => isConnected(here));
    const there = await connectFleet({ socket: desk.socket });
    const { daemon } = await there.status();
    desk.adopt(daemon.pid);
    await there.close();
    expect((await here.fleet.tools('desk/good')).tools.map(({ exposed_name }) => exposed_name)).toContain(
      'desk__good__echo',
    );
    expect(await echo(here)).toBe(true);
    expect(await here.status('desk')).toMatchObject({ transport: 'ssh', herd_servers: 1 });
    const folder = join(dirname(here.home.socket), 'herds');
    const [socket] = await readdir(folder);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, socket!)).mode & 0o777).toBe(0o600);
    const why = await toolherd(['why', 'desk'], { cwd: here.home.folder, env: here.home.environment });
    expect(why.stdout).toContain('desk is running');
  });

  it('survives the end of ssh, of sshd and of the other daemon; calls in flight fail as sent', async () => {
    const sshd = await startSshd();
    const home = makeHome(deskConfig);
    let desk = await herdIn(home, await home.start());
    const here = await startHere(sshd, home);
    await until(() => echo(here));
    const waiting = async () => {
      const call = here.fleet.call({ server: 'desk/good', tool: 'wait' });
      await until(async () => (await desk.status('good')).in_flight === 1);
      return { call };
    };
    const failsAsSent = async (call: ReturnType<typeof here.fleet.call>) => {
      const { error } = await call;
      expect(error).toMatchObject({ type: 'MCPConnectionError', sent: true });
      expect(error?.message).toContain('the herd desk is away');
    };

    const first = await waiting();
    killNow((await here.status('desk')).pids[0]!);
    await failsAsSent(first.call);
    await until(() => echo(here));

    const second = await waiting();
    await sshd.kill();
    await failsAsSent(second.call);
    expect(await here.status('desk/good')).toMatchObject({ state: 'disconnected', herd: 'desk' });
    await sshd.start();
    await until(() => echo(here));

    const third = await waiting();
    await killDaemon(home, desk.daemon);
    await failsAsSent(third.call);
    // ssh starts the daemon there again
    const status = await until(async () => {
      const fleet = await connectFleet({ socket: home.socket }).catch(() => undefined);
      const found = await fleet?.status();
      await fleet?.close();
      return found;
    });
    desk = await herdIn(home, home.adopt(status.daemon.pid));
    await until(() => echo(here));
  });

  it('leaves no ssh behind when the daemon here is killed', async () => {
    const sshd = await startSshd();
    const home = makeHome(deskConfig);
    await home.start();
    const here = await startHere(sshd, home);
    await until(() => isConnected(here));
    const { pids } = await here.status('desk');
    await killDaemon(here.home, here.daemon);
    await until(() => !isAlive(pids[0]!) && processesOf(here.daemon.id).length === 0);
  });

  it('does not start a daemon there that an order has stopped, until that is started again', async () => {
    const sshd = await startSshd();
    const home = makeHome(deskConfig);
    await home.start();
    const here = await startHere(sshd, home);
    await until(() => echo(here));
    const order = { cwd: home.folder, env: home.environment };
    expect((await toolherd(['down'], order)).status).toBe(0);
    await until(async () =>
      /its daemon was stopped/.test((await here.status('desk')).last_error?.message ?? ''),
    );
    await until(async () => (await here.status('desk')).restarts >= 2);
    expect((await toolherd(['status'], order)).status).not.toBe(0);
    await home.start();
    await until(() => echo(here));
  });

  it('works over a line of 200 ms, where calls share the time', async () => {
    const sshd = await startSshd();
    const { port } = await startLine(sshd.port, 100);
    const home = makeHome(deskConfig);
    await home.start();
    const here = await startHere(sshd, home, { changes: { Port: String(port) } });
    await until(() => echo(here));
    const before = performance.now();
    expect(await Promise.all(Array.from({ length: 20 }, (_, at) => echo(here, `${at}`)))).not.toContain(
      false,
    );
    const tookMs = performance.now() - before;
    expect(tookMs).toBeGreaterThanOrEqual(195);
    // one after another they would take four seconds
    expect(tookMs).toBeLessThan(1500 + NOISE_MS);
    expect((await here.status('desk')).latency_ms.p50).toBeGreaterThanOrEqual(195);
  });

  it('notices a line that was cut without a word in seconds, fails its calls as sent, and comes back', async () => {
    const sshd = await startSshd();
    const line = await startLine(sshd.port, 0);
    const home = makeHome(deskConfig);
    const desk = await herdIn(home, await home.start());
    const here = await startHere(sshd, home, { changes: { Port: String(line.port) } });
    await until(() => echo(here));
    const waiting = here.fleet.call({ server: 'desk/good', tool: 'wait' });
    await until(async () => (await desk.status('good')).in_flight === 1);
    line.cut();
    const before = performance.now();
    const { error } = await waiting;
    expect(performance.now() - before).toBeLessThan(8000 + NOISE_MS);
    expect(error).toMatchObject({ type: 'MCPConnectionError', sent: true });
    expect(error?.message).toContain('the line to desk is dead');
    // what the other side did not hear of is not its fault
    line.mend();
    await until(() => echo(here));
  });

  it('says what is wrong and what to do: keys, programs, forwarding', async () => {
    const sshd = await startSshd();
    const home = makeHome(deskConfig);
    await home.start();
    const failure = async (options: Options) => failureOf(await startHere(sshd, home, options));
    const keys = (name: string) => ({ changes: { UserKnownHostsFile: join(sshd.folder, name) } });

    expect(await failure(keys('known-wrong'))).toMatchObject({
      message: 'desk: the key of desk is not the one that ssh knows',
      fix: expect.stringContaining('ssh-keygen -R'),
    });
    expect(await failure(keys('known-none'))).toMatchObject({
      message: 'desk: ssh does not know the key of desk',
      fix: expect.stringContaining('ssh desk'),
    });
    expect(await failure({ changes: { IdentityFile: join(sshd.folder, 'stranger') } })).toMatchObject({
      message: 'desk: desk did not accept a key of yours',
      fix: expect.stringContaining('ssh-copy-id'),
    });
    expect(await failure({ herd: { command: 'no-such-toolherd' } })).toMatchObject({
      message: 'desk: the shell of desk finds no no-such-toolherd',
      fix: expect.stringContaining('npm install -g toolherd'),
    });
    expect(await failure({ herd: { command: 'true' } })).toMatchObject({
      message: 'desk: true printed no path of a socket on desk',
    });
    expect(await failure({ herd: { command: 'false' } })).toMatchObject({
      message: 'desk: toolherd failed on desk (status 1)',
    });
    await sshd.kill();
    expect(await failure({})).toMatchObject({
      message: 'desk: no ssh server answers at desk (connection refused)',
    });
  });
});
