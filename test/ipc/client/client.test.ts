import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { duplexPair } from 'node:stream';
import { build } from 'esbuild';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { connect } from '../../../src/client.js';
import type { Fleet, FleetEvent } from '../../../src/fleet/fleet.js';
import { remoteFleet } from '../../../src/ipc/client/remote-fleet.js';
import { Peer } from '../../../src/ipc/jsonrpc/peer.js';
import { connectSocket } from '../../../src/ipc/socket/connect-socket.js';
import { claimSocket } from '../../../src/ipc/socket/socket-owner.js';
import { ToolherdError } from '../../../src/shared/errors.js';
import { FakeFleet, resultOf, stateEvent } from '../fake-fleet.js';
import { useOwnerProcesses } from '../socket/owner-bundle.js';
import { later, serve, socketPlace } from '../support.js';

const startOwner = useOwnerProcesses();

async function remote() {
  const fleet = new FakeFleet();
  const { path, server } = await serve(fleet);
  const peer = await connectSocket({ path });
  onTestFinished(() => peer.destroy());
  return { fleet, path, server, peer, far: remoteFleet(peer) };
}

describe('a fleet at the other end of the socket', () => {
  it('behaves like the fleet in the same process', async () => {
    const { fleet, far } = await remote();
    const near = new FakeFleet();
    const uses: ((of: Fleet) => Promise<unknown>)[] = [
      (of) => of.status(),
      (of) => of.status(['b']),
      (of) => of.start({ servers: ['a'] }, true),
      (of) => of.stop({ all: true }),
      (of) => of.restart({ all: true }, false),
      (of) => of.reset({ servers: [] }),
      (of) => of.tools(),
      (of) => of.tools('a', true),
      (of) => of.prompts(),
      (of) => of.prompts('a', true),
      (of) => of.resources(),
      (of) => of.resources('a', false),
      (of) => of.prompt({ server: 'a', name: 'p', arguments: { x: 'y' }, timeout_ms: 5 }),
      (of) => of.resource({ server: 'a', uri: 'file:///r' }),
      (of) => of.inspect('a'),
      (of) => of.reload(),
      (of) => of.reload(true),
      (of) => of.logs(),
      (of) => of.logs({ server: 'a', tail: 5, since: '2026-01-01T00:00:00.000Z', level: 'warn' }),
      (of) => of.register({ name: 'new', server: 's' }, '/folder'),
      (of) => of.register({ name: 'new', server: 's' }),
      (of) => of.unregister('new'),
      (of) => of.call({ server: 'a', tool: 't', arguments: { x: [1] }, timeout_ms: 5, request_id: 'r' }),
      (of) => of.call({ server: 'a', tool: 't' }),
      // `attached` is of the socket alone
      async (of) => ({ ...(await of.shutdown(5)), attached: undefined }),
    ];
    for (const use of uses) expect(await use(far)).toEqual(await use(near));
    expect(fleet.heard).toEqual(near.heard);
  });

  it('fails with the type, why, fix, retryable and sent of the error', async () => {
    const { fleet, far } = await remote();
    const details = { type: 'ServerNotFoundError', why: 'w', fix: 'f', retryable: true, sent: false };
    fleet.inspect = () => Promise.reject(Object.assign(new ToolherdError("no server 'x'"), details));
    await expect(far.inspect('x')).rejects.toMatchObject({
      ...details,
      name: 'ServerNotFoundError',
      code: 1020,
      message: "no server 'x'",
    });
    await expect(far.inspect('')).rejects.toMatchObject({ type: 'InvalidParamsError', code: -32602 });
  });

  it('that is older refuses a newer method with a fix', async () => {
    const { peer } = await remote();
    await expect(peer.request('fleet/tomorrow')).rejects.toMatchObject({
      type: 'MethodNotFoundError',
      fix: expect.stringContaining('up --replace'),
    });
  });

  it('passes the progress of each call to that call alone', async () => {
    const { fleet, far } = await remote();
    fleet.onCall = async (params, { onProgress }) => {
      onProgress?.({ progress: 1, message: params.tool });
      await new Promise(setImmediate);
      onProgress?.({ progress: 2, message: params.tool });
      return resultOf(params, '');
    };
    const heard: Record<string, unknown>[][] = [[], []];
    await Promise.all(
      ['x', 'y'].map((tool, at) =>
        far.call({ server: 'a', tool }, { onProgress: (progress) => heard[at]?.push(progress) }),
      ),
    );
    expect(heard).toEqual(['x', 'y'].map((message) => [1, 2].map((progress) => ({ progress, message }))));
  });

  it('passes no progress after the reply to a call', async () => {
    const [near, far] = duplexPair();
    const daemon = new Peer(far);
    const fleet = remoteFleet(new Peer(near));
    onTestFinished(() => daemon.destroy());
    daemon.handle('fleet/call', (params, context) => {
      const { _meta } = params as { _meta: { progressToken: number } };
      const tell = (progress: number) => daemon.notify('notifications/progress', { ..._meta, progress });
      tell(1);
      context.afterReply(() => daemon.flushed().then(() => tell(2)));
      return {};
    });
    const heard: unknown[] = [];
    await fleet.call({ server: 'a', tool: 't' }, { onProgress: (progress) => heard.push(progress) });
    await fleet.status().catch(() => undefined);
    expect(heard).toEqual([{ progress: 1 }]);
  });

  it('cancels a call by its signal, and does not send a call that was cancelled before', async () => {
    const { fleet, far } = await remote();
    const begun = later();
    fleet.onCall = (params, { onCancel }) => {
      begun.resolve();
      return new Promise((resolve) =>
        onCancel?.(() => resolve({ ...resultOf(params, 'partly'), success: false })),
      );
    };
    const controller = new AbortController();
    const call = { server: 'a', tool: 't' };
    const called = far.call(call, { signal: controller.signal });
    await begun.promise;
    controller.abort();
    expect(await called).toMatchObject({ success: false, content: [{ text: 'partly' }] });
    expect(await far.call(call, { signal: controller.signal })).toMatchObject({
      success: false,
      error: { type: 'CancelledError', sent: false },
      metadata: { server: 'a', tool: 't' },
    });
    expect(fleet.heard).toHaveLength(1);
  });

  it('sends each event to every subscriber of its topic, and subscribes at the daemon once', async () => {
    const { fleet, far } = await remote();
    const heard: string[] = [];
    const listen = (name: string) => (event: FleetEvent) => heard.push(`${name} ${event.server}`);
    const [endOne, endTwo] = [far.subscribe(['state'], listen('1')), far.subscribe(['state'], listen('2'))];
    await far.status();
    expect(fleet.listeners).toBe(1);
    fleet.tell(stateEvent('a'));
    await far.status();
    endOne();
    endOne();
    fleet.tell(stateEvent('b'));
    await far.status();
    expect(heard).toEqual(['1 a', '2 a', '2 b']);
    expect(fleet.heard.filter(([what]) => what === 'subscribe')).toHaveLength(1);
    endTwo();
    await far.status();
    expect(fleet.listeners).toBe(0);
  });

  it('fails a call with sent: true when the daemon ends during it', async () => {
    const { fleet, far, server } = await remote();
    const begun = later();
    fleet.onCall = () => {
      begun.resolve();
      return new Promise(() => undefined);
    };
    const called = far.call({ server: 'a', tool: 't' });
    called.catch(() => undefined);
    await begun.promise;
    for (const connection of server.connections) connection.destroy();
    await expect(called).rejects.toMatchObject({ type: 'ConnectionLostError', sent: true, retryable: false });
    await expect(far.status()).rejects.toMatchObject({ type: 'ConnectionLostError', sent: false });
  });
});

describe('a client', () => {
  it('gets DaemonNotRunningError with a fix when no daemon runs (S2)', async () => {
    const path = socketPlace();
    const expected = { type: 'DaemonNotRunningError', path, fix: expect.stringContaining('toolherd up') };
    await expect(connectSocket({ path })).rejects.toMatchObject(expected);
    await expect(connectSocket({ path: join(path, '..', '..', 'no', 's.sock') })).rejects.toMatchObject({
      type: 'DaemonNotRunningError',
    });
    const owner = startOwner();
    await owner.ask(`own ${path}`);
    await owner.kill();
    await expect(connectSocket({ path })).rejects.toMatchObject(expected);
  });

  it('waits for a daemon that starts, if `retry` says so', async () => {
    const path = socketPlace();
    const connecting = connectSocket({ path, retry: { absentMs: 20_000 } });
    const owner = await (await claimSocket(path)).listen({ onConnection: (socket) => socket.end() });
    onTestFinished(() => owner.close());
    const peer = await connecting;
    expect(await peer.closed).toBeTypeOf('string');
  });

  it.runIf(process.platform === 'linux')(
    'retries when the connection queue of the daemon is full',
    async () => {
      const path = socketPlace();
      const script = `require('node:net').createServer().listen({ path: ${JSON.stringify(path)}, backlog: 1 }, () => console.log('up'))`;
      const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
      onTestFinished(() => void child.kill('SIGKILL'));
      await once(child.stdout, 'data');
      child.kill('SIGSTOP');
      const connect = (busyMs: number) => connectSocket({ path, retry: { busyMs } });
      const peers = [];
      const full = later<unknown>();
      for (let at = 0; at < 10; at += 1) {
        peers.push(
          connect(0).catch((error: unknown) => {
            full.resolve(error);
            return undefined;
          }),
        );
      }
      expect(await full.promise).toMatchObject({
        type: 'DaemonUnreachableError',
        why: expect.stringContaining('EAGAIN'),
      });
      const patient = connect(20_000);
      child.kill('SIGCONT');
      peers.push(patient);
      expect(await patient).toBeDefined();
      for (const peer of await Promise.all(peers)) peer?.destroy();
    },
  );

  it('connect() finds the daemon by the environment, says hello and can be closed', async () => {
    const { path, fleet, server } = await remote();
    vi.stubEnv('TOOLHERD_SOCKET', path);
    onTestFinished(() => void vi.unstubAllEnvs());
    const here = await connect();
    expect((await here.status()).servers).toHaveLength(2);
    expect(fleet.heard).toHaveLength(1);
    await here.close();
    await expect(here.status()).rejects.toMatchObject({ type: 'FleetClosedError' });
    vi.stubEnv('TOOLHERD_SOCKET', '/nowhere');
    const again = await connect({ socket: path });
    const connections = [...server.connections];
    await again[Symbol.asyncDispose]();
    await connections.at(-1)?.closed;
    await expect(connect({ socket: path, agent: 'agent.yaml' })).rejects.toMatchObject({
      type: 'InvalidParamsError',
      message: expect.stringContaining("'agent'"),
    });
  });

  it('imports only modules of Node, and is smaller than 82 kB', async () => {
    const { metafile } = await build({
      entryPoints: [join(import.meta.dirname, '..', '..', '..', 'src', 'client.ts')],
      bundle: true,
      platform: 'node',
      format: 'esm',
      packages: 'external',
      write: false,
      metafile: true,
    });
    const imports = Object.values(metafile.inputs).flatMap((input) => input.imports);
    const external = imports.filter((entry) => entry.external).map((entry) => entry.path);
    expect(external.filter((name) => !name.startsWith('node:'))).toEqual([]);
    expect(external).not.toContain('node:child_process');
    const bytes = Object.values(metafile.outputs).reduce((sum, output) => sum + output.bytes, 0);
    expect(bytes).toBeLessThan(82_000);
  });
});
