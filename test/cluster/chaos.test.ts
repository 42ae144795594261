import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { server } from '../faults/config.js';
import { counts, measured } from '../faults/measured.js';
import { type Line, startLine } from '../herds/sshd.js';
import { makeFolder } from '../support/folder.js';
import { type Herd, herdIn, isAlive, killDaemon, killNow, makeHome, until } from '../support/herd.js';
import { startNatsServer, whyNoNatsServer } from '../support/nats-server.js';
import { ChaosClient, type Outcome } from './chaos-client.js';
import { clusterOf, countsIn, newClusterName, nodeConfig, seesOthers } from './daemons.js';

const missing = whyNoNatsServer();
if (missing !== undefined) console.warn(`the calls between nodes under faults are left out: ${missing}`);

const IS_LONG = Boolean(process.env.TOOLHERD_LONG);
const CALLS = IS_LONG ? 100_000 : 3000;
/** Of each kind, at least. */
const ROUNDS = IS_LONG ? 6 : 1;
const NAMES = ['a', 'b', 'c'] as const;
const CLIENTS = 2;
const IN_FLIGHT = 8;
/** Errors that a call may get, apart from `gone`: the daemon that was asked was killed. */
const TOLD = /^(ServerCrashed|ServerUnavailable|ServerNotFound|MCPConnection|MCPTimeout)Error$/;

/** Random with a fixed seed, so that a failure can be repeated. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

interface Node {
  herd: Herd;
  line: Line;
  /** Undefined while it is down. */
  clients: ChaosClient[];
}

interface Tally {
  asked: number;
  outcomes: Map<string, Outcome>;
  doubled: string[];
  strays: string[];
}

/** Calls without a pause while `isStorming` holds; a client whose daemon was killed waits for the next one. */
async function callAllTheTime(
  node: Node,
  who: string,
  index: number,
  tally: Tally,
  isStorming: () => boolean,
) {
  const roll = dice(who.charCodeAt(0) * 100 + index);
  const servers = ['work', ...NAMES.map((name) => `only-${name}`)];
  while (isStorming()) {
    const client = node.clients[index % CLIENTS];
    if (client === undefined || client.isClosed) {
      await sleep(20);
      continue;
    }
    const name = servers[roll(servers.length)]!;
    const key = `${who}/${index}/${tally.asked}/${name}`;
    tally.asked += 1;
    const outcome = await client.call(name, { key, ms: roll(4) });
    if (tally.outcomes.has(key)) tally.doubled.push(key);
    tally.outcomes.set(key, outcome);
    // without this pause refused calls would loop
    if (outcome.error !== undefined) await sleep(10);
  }
}

describe.runIf(missing === undefined)('calls between nodes', () => {
  it('L5: every call has one outcome while nodes die, drain and are cut off, and NATS restarts; none runs twice', async () => {
    const nats = await startNatsServer();
    const cluster = newClusterName();
    const file = join(makeFolder(), 'ran');
    const roll = dice(7);
    const fields = { args: [file], backoff: { min: 0.05, max: 0.3 }, max_restarts: 150 };
    const work = server('work', 'takes-time.mjs', { ...fields, cluster: true });
    const nodes = Object.fromEntries(
      await Promise.all(
        NAMES.map(async (name) => {
          const line = await startLine(nats.port, 0);
          const own = server(`only-${name}`, 'takes-time.mjs', fields);
          const url = `nats://127.0.0.1:${line.port}`;
          const home = makeHome(nodeConfig({ url }, cluster, name, [work, own]));
          const herd = await herdIn(home, await home.start());
          return [name, { herd, line, clients: [] as ChaosClient[] }] as const;
        }),
      ),
    ) as Record<(typeof NAMES)[number], Node>;
    const all = Object.values(nodes);
    const strays: string[] = [];
    const connect = (node: Node) => {
      for (const client of node.clients) {
        client.end();
        strays.push(...client.strays);
      }
      node.clients = Array.from({ length: CLIENTS }, () => new ChaosClient(node.herd.home.socket));
    };
    await Promise.all(all.map(({ herd }) => seesOthers(herd, NAMES.length - 1)));
    all.forEach(connect);

    const done = new Map<string, number>();
    const faults: Record<string, (node: Node) => Promise<void>> = {
      'nodes killed': async (node) => {
        const { home, daemon } = node.herd;
        await killDaemon(home, daemon);
        await sleep(roll(1500));
        node.herd = await herdIn(home, await home.start());
        connect(node);
      },
      'nodes drained': async ({ herd }) => {
        await herd.fleet.clusterDrain();
        await sleep(500 + roll(1000));
        await herd.fleet.clusterUndrain();
      },
      'nodes cut off': async ({ line }) => {
        line.cut();
        await sleep(500 + roll(4500));
        line.mend();
      },
      'NATS servers killed': async () => {
        await nats.kill();
        await sleep(roll(1500));
        await nats.start();
      },
      'server processes killed': async ({ herd }) => {
        const pids = (await herd.fleet.status()).servers.flatMap((one) => one.pids);
        for (const pid of pids.slice(0, 1)) if (isAlive(pid)) killNow(pid);
      },
    };
    const tally: Tally = { asked: 0, outcomes: new Map(), doubled: [], strays };
    const kinds = Object.keys(faults);
    const isStorming = () => tally.asked < CALLS || kinds.some((kind) => (done.get(kind) ?? 0) < ROUNDS);
    const calling = NAMES.flatMap((name) =>
      Array.from({ length: CLIENTS * IN_FLIGHT }, (_, index) =>
        callAllTheTime(nodes[name], name, index, tally, isStorming),
      ),
    );
    for (let round = 0; isStorming(); round += 1) {
      const kind = kinds[round % kinds.length]!;
      const node = nodes[NAMES[roll(NAMES.length)]!];
      await faults[kind]!(node);
      done.set(kind, (done.get(kind) ?? 0) + 1);
      await sleep(300 + roll(1500));
    }
    await Promise.all(calling);
    await Promise.all(all.map(({ herd }) => seesOthers(herd, NAMES.length - 1)));
    for (const { herd } of all)
      for (const name of ['work', ...NAMES.map((one) => `only-${one}`)])
        await until(async () => (await herd.fleet.call({ server: name, tool: 'work' })).success);
    for (const { clients } of all) for (const client of clients) strays.push(...client.strays);

    const ran = countsIn(file);
    ran.delete('');
    const outcomes = [...tally.outcomes];
    const good = outcomes.filter(([, { error }]) => error === undefined);
    const bad = outcomes.filter(([, { error }]) => error !== undefined);
    const kindsOfErrors = new Map<string, number>();
    for (const [, { error = '', sent }] of bad) {
      const kind = `${error}${sent === undefined ? '' : sent ? ', sent' : ', not sent'}`;
      kindsOfErrors.set(kind, (kindsOfErrors.get(kind) ?? 0) + 1);
    }
    const row = `L5: ${tally.asked} calls on three nodes; ${counts(done)}; ${good.length} answered; errors: ${counts(kindsOfErrors)}; 0 lost, 0 doubled, 0 ran twice`;
    measured(row);
    if (process.env.TOOLHERD_SHOW) console.info(row);
    expect(outcomes.length).toBe(tally.asked);
    expect(tally.doubled).toEqual([]);
    expect(strays).toEqual([]);
    expect(good.filter(([key, { text }]) => text !== key)).toEqual([]);
    expect(good.length).toBeGreaterThan(tally.asked / 4);
    // it runs on every node: a call that one node gives back is taken by another one
    const everywhere = outcomes.filter(([key]) => key.endsWith('/work'));
    const refused = everywhere.filter(([, { sent }]) => sent === false);
    if (process.env.TOOLHERD_SHOW)
      console.info(
        `${refused.length} of ${everywhere.length}`,
        refused.slice(0, 12).map(([, { message }]) => message),
      );
    expect(bad.filter(([, { error = '' }]) => error !== 'gone' && !TOLD.test(error))).toEqual([]);
    // the tools' own count: once for an answer, never for what was not sent, never twice
    expect([...ran].filter(([, times]) => times !== 1)).toEqual([]);
    expect(good.filter(([key]) => !ran.has(key))).toEqual([]);
    expect(bad.filter(([key, { sent }]) => sent === false && ran.has(key))).toEqual([]);
    for (const { herd } of all) expect((await clusterOf(herd)).state).toBe('connected');
  }, 900_000);
});
