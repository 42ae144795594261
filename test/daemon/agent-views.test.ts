import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ServerSpec } from '../../src/config/fields/spec.js';
import { recordOf, TrustStore } from '../../src/config/trust/trust.js';
import { MISSING_GRACE_MS } from '../../src/daemon/agent-file.js';
import { AgentViews } from '../../src/daemon/agent-views.js';
import { readHerdConfig } from '../../src/daemon/config-source.js';
import type { LocalFleet } from '../../src/fleet/fleet.js';
import { findPaths } from '../../src/shared/files/paths.js';
import { DEFAULT_SURFACE } from '../../src/shared/mcp/surface.js';
import { config, server } from '../faults/config.js';
import { settled, spec, World } from '../supervisor/world.js';
import { makeFolder } from '../support/folder.js';

const AGENT = 'tools:\n  - {name: red, description: x, type: mcp, server: x, command: npx, start: eager}\n';
const LINGER_MS = 1000;

/** The servers of the only view there is. */
const shownIn = (agents: AgentViews) => agents.views[0]?.status().map(({ name, detail }) => [name, detail]);

type Started = Awaited<ReturnType<typeof start>>;

/** An agent file in a project, and a way to take back that it is allowed. */
async function allowed({ source }: Started) {
  const file = join(makeFolder({ 'agent.yaml': AGENT }), 'agent.yaml');
  const trusting = { ...source, paths: { ...source.paths, trustFile: undefined as unknown as string } };
  const { agent } = await readHerdConfig(trusting, file);
  const trust = new TrustStore(source.paths.trustFile);
  await trust.allow(file, await recordOf(agent!.text, agent!.planned));
  return { file, revoke: () => trust.revoke(file) };
}

async function start({ global = 'version: "1.0"\n', registered = [] as ServerSpec[] } = {}) {
  // in the user's own folder, so that nothing has to be allowed
  const folder = makeFolder({ 'config.yaml': global, 'agent.yaml': AGENT });
  const world = new World();
  const herd = world.herd();
  const source = {
    file: join(folder, 'config.yaml'),
    isRequired: true,
    paths: findPaths({ TOOLHERD_HOME: folder }, folder),
    environment: {},
    userHome: folder,
  };
  const agents = new AgentViews({
    herd,
    source,
    clock: world.clock,
    log: () => undefined,
    surface: () => DEFAULT_SURFACE,
    withRuntimeServers: (specs) => [...specs, ...registered],
    lingerMs: LINGER_MS,
  });
  const open = (caller: string, file = join(folder, 'agent.yaml')) =>
    agents.ofAgent({ caller }, file, 'trusted', () => ({}) as LocalFleet);
  return { world, herd, source, agents, open };
}

it('servers of an agent file stop some time after its last connection', async () => {
  const { world, herd, agents, open } = await start();
  const [one, two] = [await open('a'), await open('b')];
  expect([agents.views.length, herd.view.status().map(({ name }) => name)]).toEqual([1, ['red']]);
  one.close();
  two.close();
  world.clock.advance(LINGER_MS - 1);
  const three = await open('c');
  world.clock.advance(LINGER_MS * 2);
  expect(herd.view.status()).toHaveLength(1);
  three.close();
  world.clock.advance(LINGER_MS);
  expect([agents.views, herd.view.status()]).toEqual([[], []]);
  agents.close();
});

it('X3: no server of a revoked file runs, also after another server is registered', async () => {
  const registered: ServerSpec[] = [];
  const started = await start({ registered });
  const { world, agents, open } = started;
  const { file, revoke } = await allowed(started);
  await open('a', file);
  await settled();
  expect(world.alive).toHaveLength(1);
  await revoke();
  await agents.reload();
  registered.push(spec({ name: 'extra' }));
  agents.serversChanged();
  world.links[0]?.isBuried();
  await settled();
  expect(world.alive.map(({ spec: { name } }) => name)).toEqual(['extra']);
  const shown = agents.views[0]?.status().map(({ name, detail }) => [name, detail]);
  expect(shown).toEqual([
    ['red', 'not_allowed'],
    ['extra', 'running'],
  ]);
  agents.close();
});

describe('an agent file that cannot be read', () => {
  it('keeps its servers running until the grace is over, for any number of reloads', async () => {
    const { world, source, agents, open } = await start();
    const file = join(dirname(source.file), 'agent.yaml');
    await open('a');
    rmSync(file);
    await agents.reload();
    world.clock.advance(MISSING_GRACE_MS - 1);
    await agents.reload();
    expect(shownIn(agents)).toEqual([['red', 'running']]);
    world.clock.advance(1);
    await agents.reload();
    expect(shownIn(agents)).toEqual([['red', 'not_allowed']]);
    agents.close();
  });

  it('an agent file that returns within the grace keeps its servers, and has a full grace the next time', async () => {
    const { world, source, agents, open } = await start();
    const file = join(dirname(source.file), 'agent.yaml');
    await open('a');
    for (let round = 0; round < 3; round += 1) {
      renameSync(file, `${file}.aside`);
      await agents.reload();
      world.clock.advance(MISSING_GRACE_MS - 1);
      renameSync(`${file}.aside`, file);
      await agents.reload();
    }
    world.clock.advance(MISSING_GRACE_MS);
    await agents.reload();
    expect([shownIn(agents), world.links.length]).toEqual([[['red', 'running']], 1]);
    agents.close();
  });

  it('is forgotten with its last connection, and is opened again when it is back', async () => {
    const { world, source, herd, agents, open } = await start();
    const file = join(dirname(source.file), 'agent.yaml');
    const one = await open('a');
    rmSync(file);
    await agents.reload();
    world.clock.advance(MISSING_GRACE_MS);
    await agents.reload();
    one.close();
    expect([agents.views, herd.view.status()]).toEqual([[], []]);
    writeFileSync(file, AGENT);
    await open('b');
    expect(shownIn(agents)).toEqual([['red', 'running']]);
    agents.close();
  });
});

it('a reload includes agent files that are being opened', async () => {
  const { agents, open } = await start();
  const opening = open('a');
  await agents.reload();
  expect(agents.views).toHaveLength(1);
  (await opening).close();
  agents.close();
});

it('a closed connection gets no per-agent servers, also from requests that still run', async () => {
  const { herd, agents } = await start();
  herd.apply([spec({ name: 'own', sharing: 'per-agent' })]);
  const [early, late] = ['a', 'b'].map((caller) => agents.global({ caller }, () => ({}) as LocalFleet));
  early?.fleetForUse();
  expect(herd.view.status()).toHaveLength(2);
  for (const own of [early, late]) own?.close();
  late?.fleetForUse();
  expect(herd.view.status()).toHaveLength(1);
});

it('X3: an agent file that is forgotten while it is read again holds no server', async () => {
  const started = await start({ global: config([server('common', 'good.mjs', { start: 'eager' })]) });
  const { world, herd, source, agents, open } = started;
  const { file, revoke } = await allowed(started);
  herd.apply((await readHerdConfig(source)).servers);
  (await open('a', file)).close();
  await revoke();
  const reloading = agents.reload();
  await Promise.resolve();
  await Promise.resolve();
  world.clock.advance(LINGER_MS);
  await reloading;
  herd.apply([]);
  await settled();
  expect([agents.views, world.alive]).toEqual([[], []]);
});
