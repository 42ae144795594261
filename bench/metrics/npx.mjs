// Servers that are started with npx, as most are: as npx runs them, and as toolherd does.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { install } from '../../scripts/shared/install.mjs';
import { environment, makeFolder, removeFolder } from '../children.mjs';
import { interleave, median } from '../numbers.mjs';
import { firstLine } from '../peers/start-peers.mjs';
import { familyOf, pssOf, sumOf } from '../proc-stats.mjs';
import { NPM_CACHE } from '../systems/servers.mjs';
import { makeHerd } from '../systems/toolherd.mjs';
import { connectLines, shakeHands } from '../transports/lines.mjs';
import { openPipe } from '../transports/raw.mjs';

/** One is measured alone; a herd has equal numbers of all. */
const ALONE = 'memory';
const PACKAGES = ['everything', 'filesystem', ALONE, 'sequential-thinking'];
/** server-filesystem wants a folder; server-everything refuses what it does not know. */
const argumentsOf = (/** @type {string} */ name) => (name === 'filesystem' ? ['.'] : []);
const packageOf = (/** @type {string} */ name) => `@modelcontextprotocol/server-${name}`;
const env = { ...environment, npm_config_cache: NPM_CACHE };
/** A proxy at which nothing listens: npm reaches no registry. */
const OFFLINE = { HTTPS_PROXY: 'http://127.0.0.1:9', HTTP_PROXY: 'http://127.0.0.1:9' };

/** @returns {Bench.Argv} */
const byNpx = (/** @type {string} */ name) => ['npx', '-y', packageOf(name), ...argumentsOf(name)];

/** @returns {Bench.Argv} */
function byNode(/** @type {string} */ name) {
  const { folder } = install(`${packageOf(name)}@2026`, { folder: `bench/server-${name}`, env });
  const root = join(folder, 'node_modules', packageOf(name));
  const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return [process.execPath, join(root, /** @type {string} */ (Object.values(bin)[0])), ...argumentsOf(name)];
}

/** So many servers: each package in turn. */
const herdOf = (/** @type {number} */ count, /** @type {(name: string) => Bench.Argv} */ command) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => {
      const name = PACKAGES[at % PACKAGES.length];
      return [`${name}-${Math.floor(at / PACKAGES.length)}`, command(name)];
    }),
  );

/** Processes of this one: the start to the lists of all tools, and the memory of all that was started. */
async function runChildren(/** @type {Record<string, Bench.Argv>} */ servers) {
  const begun = performance.now();
  const before = new Set(familyOf(process.pid));
  const pipes = await openPipe({ servers, env });
  await Promise.all(Object.keys(servers).map((name) => pipes.list(name)));
  const ms = performance.now() - begun;
  const pids = familyOf(process.pid).filter((pid) => !before.has(pid));
  const pss = sumOf(pids, pssOf);
  pipes.close();
  for (const pid of pids) killIfThere(pid);
  return { ms, pss };
}

function killIfThere(/** @type {number} */ pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has ended
  }
}

/**
 * A daemon with these servers. What it installs stays in `home` for the next one.
 * @param {{ folder: string, servers: Record<string, Bench.Argv>, start: string, more?: object, variables?: object }} how
 */
function herdIn({ folder, servers, start, more = {}, variables = {} }) {
  const entries = Object.entries(servers).map(([name, [command, ...args]]) => [
    name,
    { command, args, start, env: { npm_config_cache: NPM_CACHE }, ...more },
  ]);
  return makeHerd(Object.fromEntries(entries), { folder, variables });
}

/** One server that was started before: from the order, or the spawn, to its list of tools; and its memory. */
export async function measureNpx(/** @type {Bench.MetricOptions} */ { rounds }) {
  mkdirSync(NPM_CACHE, { recursive: true });
  const opened = [await openWarm({}), await openWarm({ runner: 'plain' })];
  const [direct, plain] = opened;
  const systems = {
    'node BIN': () => runChildren({ [ALONE]: byNode(ALONE) }),
    npx: () => runChildren({ [ALONE]: byNpx(ALONE) }),
    'toolherd, npx': direct.run,
    'toolherd, npx, runner: plain': plain.run,
  };
  try {
    const outcomes = await interleave({ rounds, warmups: 1, systems, run: (begin) => begin() });
    const npx = Object.entries(outcomes).map(([name, list]) => [
      name,
      { ms: median(list.map(({ ms }) => ms)), pss: median(list.map(({ pss }) => pss)) },
    ]);
    return { npx: Object.fromEntries(npx) };
  } finally {
    for (const { close } of opened) await close();
  }
}

async function openWarm(/** @type {object} */ more) {
  const herd = herdIn({
    folder: makeFolder(),
    servers: { [ALONE]: byNpx(ALONE) },
    start: 'lazy',
    more,
  });
  const daemon = await herd.up();
  const { lines, socket } = await connectLines(herd.path);
  await shakeHands(lines);
  const order = { servers: [ALONE], wait: true };
  return {
    async run() {
      const begun = performance.now();
      await lines.request('fleet/start', order);
      await lines.request('fleet/tools', { server: ALONE, refresh: true });
      const ms = performance.now() - begun;
      const { servers } = await lines.request('fleet/status', {});
      const pss = sumOf(servers[0].pids.flatMap(familyOf), pssOf);
      await lines.request('fleet/stop', order);
      return { ms, pss };
    },
    async close() {
      socket.destroy();
      await daemon.down();
      herd.remove();
    },
  };
}

/** Herds of real servers: from spawning the daemon to all tools listed, and the memory of the whole tree. */
export async function measureNpxHerd(/** @type {Bench.MetricOptions} */ { rounds, sizes, peers, note }) {
  mkdirSync(NPM_CACHE, { recursive: true });
  const rivals = peers.filter(({ name }) => name === 'mcporter' || name === 'mcp-hub');
  const folder = makeFolder();
  /** @type {Record<number, Record<string, { ms: number, pss: number }>>} */
  const npxHerd = {};
  try {
    for (const count of sizes) {
      note(`${count} servers by npx`);
      const servers = herdOf(count, byNpx);
      /** @type {Record<string, () => Promise<{ ms: number, pss: number } | undefined>>} */
      const systems = {
        'node BIN, no gateway': () => runChildren(herdOf(count, byNode)),
        'npx, no gateway': () => runChildren(servers),
        toolherd: () => runToolherd(folder, servers),
        'toolherd, registry unreachable': () => runToolherd(folder, servers, OFFLINE),
        ...Object.fromEntries(rivals.map((peer) => [peer.name, () => runPeer(peer, servers, note)])),
      };
      const outcomes = await interleave({ rounds, warmups: 1, systems, run: (begin) => begin() });
      npxHerd[count] = Object.fromEntries(
        Object.entries(outcomes).flatMap(([name, all]) => {
          const list = all.filter((one) => one !== undefined);
          if (list.length === 0) return [];
          return [[name, { ms: median(list.map(({ ms }) => ms)), pss: median(list.map(({ pss }) => pss)) }]];
        }),
      );
    }
    return { npxHerd };
  } finally {
    removeFolder(folder);
  }
}

async function runToolherd(
  /** @type {string} */ folder,
  /** @type {Record<string, Bench.Argv>} */ servers,
  /** @type {object} */ variables = {},
) {
  const herd = herdIn({ folder, servers, start: 'eager', variables });
  const begun = performance.now();
  const daemon = await herd.up();
  const { lines, socket } = await connectLines(herd.path);
  await shakeHands(lines);
  await lines.request('fleet/start', { all: true, wait: true });
  const { tools } = await lines.request('fleet/tools', {});
  const ms = performance.now() - begun;
  const listed = new Set(tools.map((/** @type {{ server: string }} */ { server }) => server));
  if (listed.size !== Object.keys(servers).length) throw new Error(`${listed.size} servers are listed`);
  const pss = sumOf(familyOf(daemon.pid), pssOf);
  socket.destroy();
  await daemon.down();
  return { ms, pss };
}

async function runPeer(
  /** @type {Bench.Peer} */ peer,
  /** @type {Record<string, Bench.Argv>} */ servers,
  /** @type {Bench.Note} */ note,
) {
  try {
    const ms = await peer.startTime(servers);
    const system = await peer.start(servers);
    const pss = sumOf((system.pids ?? [system.pid ?? 0]).flatMap(familyOf), pssOf);
    await system.close();
    return { ms, pss };
  } catch (error) {
    note(`left out here: ${peer.name}: ${firstLine(error)}`);
    return undefined;
  }
}
