import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { HerdRuntime } from '../../src/daemon/herd-runtime.js';
import { openFleet, TrustRequiredError } from '../../src/index.js';
import { config, server } from '../faults/config.js';
import { DIST } from '../support/command.js';
import { makeFolder } from '../support/folder.js';
import { isAlive, ORPHANS_MS, startHerd, until } from '../support/herd.js';
import { HERD, itIsAFleet } from './contract.js';

/** A separate home for herds that are opened in this process. */
function makeHome(text = HERD): { home: string; configFile: string } {
  const home = makeFolder({ 'config.yaml': text });
  vi.stubEnv('TOOLHERD_HOME', home);
  onTestFinished(() => void vi.unstubAllEnvs());
  return { home, configFile: join(home, 'config.yaml') };
}

async function open(options: Parameters<typeof openFleet>[0] = {}) {
  const fleet = await openFleet(options);
  onTestFinished(() => fleet.close());
  return fleet;
}

const fleetsIn = (home: string) =>
  existsSync(join(home, 'state', 'fleets')) ? readdirSync(join(home, 'state', 'fleets')) : [];

/** Runs a script that uses the built library, as a user's would. */
function run(home: string, script: string): ChildProcess {
  const text = `import { openFleet } from ${JSON.stringify(join(DIST, 'index.js'))};\n${script}`;
  const file = join(home, 'script.mjs');
  writeFileSync(file, text);
  const env = { PATH: process.env.PATH ?? '', HOME: home, TOOLHERD_HOME: home };
  const child = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

async function said(child: ChildProcess): Promise<{ code: number | null; text: string }> {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  }
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, text };
}

describe('a fleet in this process', () => {
  itIsAFleet(async () => {
    const { configFile } = makeHome();
    return { fleet: await open(), configFile };
  });

  it('leaves no folder when it cannot be opened', async () => {
    const { home } = makeHome();
    const open = vi.spyOn(HerdRuntime, 'open').mockRejectedValue(new Error('no'));
    onTestFinished(() => open.mockRestore());
    await expect(openFleet()).rejects.toThrow('no');
    expect(fleetsIn(home)).toEqual([]);
  });

  it('has its own processes beside a daemon, and changes nothing of the daemon', async () => {
    const { home, fleet: daemon } = await startHerd(HERD);
    vi.stubEnv('TOOLHERD_HOME', home.folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    const theirs = (await daemon.start({ servers: ['good'] }, true))[0]?.pids ?? [];
    const fleet = await open();
    const { pids } = await fleet.server('good').connect();
    expect(pids).toHaveLength(1);
    expect(pids).not.toEqual(theirs);
    await fleet.close();
    expect(pids.filter(isAlive)).toEqual([]);
    expect(fleetsIn(home.folder)).toEqual([]);
    expect(theirs.every(isAlive)).toBe(true);
    expect((await daemon.call({ server: 'good', tool: 'echo', arguments: { value: 'hi' } })).text()).toBe(
      'hi',
    );
  });

  it('shares no process and no state with a second one', async () => {
    const { home } = makeHome();
    const [first, second] = [await open(), await open()];
    const [one, other] = [await first.server('good').connect(), await second.server('good').connect()];
    expect(one.pids).not.toEqual(other.pids);
    expect(fleetsIn(home)).toHaveLength(2);
    await first.close();
    expect((await second.call('good', 'echo', { value: 'hi' })).text()).toBe('hi');
    expect(await second.server('good').status()).toMatchObject({ pids: other.pids });
  });

  it('fails with a fix if it cannot create its state folder', async () => {
    const { home } = makeHome();
    writeFileSync(join(home, 'state'), 'in the way');
    await expect(openFleet()).rejects.toMatchObject({
      type: 'ToolherdError',
      message: expect.stringContaining(join(home, 'state', 'fleets')),
      why: expect.stringContaining('ENOTDIR'),
      fix: expect.stringContaining('TOOLHERD_HOME'),
    });
  });

  it('reads the named config, and fails with its problems', async () => {
    makeHome();
    const folder = makeFolder({
      'other.yaml': config([server('only', 'good.mjs')]),
      'bad.yaml': 'version: "1.0"\nmcp_server: []\n',
    });
    const fleet = await open({ config: join(folder, 'other.yaml') });
    expect((await fleet.status()).servers.map(({ name }) => name)).toEqual(['only']);
    await expect(openFleet({ config: join(folder, 'bad.yaml') })).rejects.toMatchObject({
      type: 'ConfigError',
    });
    await expect(openFleet({ config: join(folder, 'none.yaml') })).rejects.toMatchObject({
      type: 'ConfigError',
    });
  });

  it('runs an agent file only if it is allowed, and then over the global config', async () => {
    const { home, configFile } = makeHome();
    const entry = { type: 'mcp', ...server('mine', 'good.mjs') };
    const project = makeFolder({ 'agent.yaml': `tools:\n  - ${JSON.stringify(entry)}\n` });
    const agent = join(project, 'agent.yaml');
    const refusal = openFleet({ agent });
    await expect(refusal).rejects.toBeInstanceOf(TrustRequiredError);
    await expect(refusal).rejects.toMatchObject({ code: 1040, data: { file: agent } });
    expect(fleetsIn(home)).toEqual([]);
    writeFileSync(configFile, HERD.replace('security: {', 'security: {trust: all, '));
    const fleet = await open({ agent });
    expect((await fleet.call('mine', 'echo', { value: 'hi' })).text()).toBe('hi');
    const extra = server('extra', 'good.mjs');
    await fleet.register(extra);
    await fleet.reload();
    expect((await fleet.call('extra', 'echo', { value: 'hi' })).text()).toBe('hi');
    const { servers } = await fleet.status(['mine', 'good']);
    expect(servers.map(({ name, agent: whose }) => [name, whose])).toEqual([
      ['good', null],
      ['mine', agent],
    ]);
  });

  it('prints nothing, and its process exits when it is closed', async () => {
    const { home } = makeHome(config([server('good', 'good.mjs', { sharing: 'per-agent' })]));
    const entry = { type: 'mcp', ...server('offers', 'offers.mjs', { start: 'eager' }) };
    writeFileSync(join(home, 'agent.yaml'), `tools:\n  - ${JSON.stringify(entry)}\n`);
    const child = run(
      home,
      `const fleet = await openFleet({ agent: ${JSON.stringify(join(home, 'agent.yaml'))} });
       const abort = new AbortController();
       const calls = Array.from({ length: 50 }, (_, at) => ({ server: at % 2 ? 'good' : 'offers', tool: 'echo', arguments: { value: 'x' } }));
       const results = await Promise.all(calls.map((call) => fleet.call(call.server, call.tool, call.arguments, { signal: abort.signal })));
       await fleet.close();
       process.stdout.write(results.map((result) => result.text()).join(''));`,
    );
    expect(await said(child)).toEqual({ code: 0, text: 'x'.repeat(50) });
    expect(fleetsIn(home)).toEqual([]);
  });

  it('leaves no process after SIGKILL, and the next one removes its state', async () => {
    const { home } = makeHome();
    const child = run(
      home,
      `const fleet = await openFleet();
       const [{ pids }] = await fleet.start('good');
       process.stdout.write(JSON.stringify(pids));`,
    );
    const [chunk] = (await once(child.stdout!, 'data')) as [Buffer];
    const pids = JSON.parse(String(chunk)) as number[];
    expect(pids.filter(isAlive)).toHaveLength(1);
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    await until(() => !pids.some(isAlive), ORPHANS_MS);
    expect(fleetsIn(home)).toHaveLength(1);
    await open();
    expect(fleetsIn(home).map((name) => Number.parseInt(name, 10))).toEqual([process.pid]);
  });
});
