import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { type Herd, isAlive, killNow, processesOf, startHerd, until } from '../support/herd.js';
import { openFiles } from '../support/processes.js';
import { Caller, type Reply, type Vocabulary } from './caller.js';
import { config, server } from './config.js';
import { measured } from './measured.js';

const STORM_MS = process.env.TOOLHERD_LONG ? 60_000 : 3000;
const KILL_EVERY_MS = 200;
const SERVERS = ['a', 'b', 'c', 'd', 'e', 'f'];
const CALLERS = 8;
/** Of each caller, all the time. */
const IN_FLIGHT = 12;
const POLICY = { max_restarts: 500, backoff: { min: 0.02, max: 0.1 } };
/** Errors that a call may get when its server is killed. */
const TOLD = /^(ServerCrashed|ServerUnavailable|MCPConnection)Error$/;

/** Random with a fixed seed, so that a failure can be repeated. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

interface Tally {
  replies: Map<string, Reply>;
  asked: number;
  strays: string[];
}

/** Calls without a pause until `isStorming` ends; then waits for calls in flight. */
function callAllTheTime(herd: Herd, who: number, tally: Tally, isStorming: () => boolean) {
  const roll = dice(who + 1);
  const words: Vocabulary = who % 2 === 0 ? 'fleet' : 'mcp';
  const keys = new Map<number, string>();
  const next = () => {
    const name = SERVERS[roll(SERVERS.length)]!;
    const key = `${who}/${tally.asked}/${name}`;
    tally.asked += 1;
    keys.set(caller.call(name, key, words), key);
  };
  const caller: Caller = new Caller(
    herd.home.socket,
    (reply) => {
      const key = keys.get(reply.id)!;
      keys.delete(reply.id);
      tally.replies.set(key, reply);
      // without this pause refused calls would loop
      if (isStorming()) setTimeout(next, reply.error === undefined ? 0 : 10);
    },
    (line) => tally.strays.push(line),
  );
  for (let index = 0; index < IN_FLIGHT; index += 1) next();
  return caller;
}

/** Kills a random server every 200 ms while `isStorming` holds. */
async function killAtRandom({ fleet }: Herd, isStorming: () => boolean): Promise<number> {
  const roll = dice(42);
  let killed = 0;
  while (isStorming()) {
    await sleep(KILL_EVERY_MS);
    const { servers } = await fleet.status();
    const running = servers.flatMap(({ pids }) => pids);
    const [pid] = running.splice(roll(running.length), 1);
    if (pid === undefined || !isAlive(pid)) continue;
    killNow(pid);
    killed += 1;
  }
  return killed;
}

const servesAgain = (herd: Herd) =>
  Promise.all(
    SERVERS.map((name) =>
      until(async () => (await herd.fleet.call({ server: name, tool: 'total' })).success),
    ),
  );

it('L2: every call gets one reply or typed error while servers are killed; none runs twice, and nothing leaks', async () => {
  const herd = await startHerd(
    config(SERVERS.map((name) => server(name, 'counts.mjs', { args: ['./ran'], ...POLICY }))),
  );
  const { home, fleet, daemon } = herd;
  await fleet.start({ all: true }, true);
  // every log is open from here on
  for (const { pids } of (await fleet.status()).servers) pids.forEach(killNow);
  await servesAgain(herd);
  const filesBefore = openFiles(daemon.pid);

  const tally: Tally = { replies: new Map(), asked: 0, strays: [] };
  const endsAt = performance.now() + STORM_MS;
  const isStorming = () => performance.now() < endsAt;
  const callers = Array.from({ length: CALLERS }, (_, who) => callAllTheTime(herd, who, tally, isStorming));
  const killed = await killAtRandom(herd, isStorming);
  await until(() => tally.replies.size === tally.asked);
  await servesAgain(herd);
  await Promise.all(callers.map((caller) => caller.end()));

  const ran = new Map<string, number>();
  for (const key of readFileSync(join(home.folder, 'ran'), 'utf8').trimEnd().split('\n'))
    ran.set(key, (ran.get(key) ?? 0) + 1);
  const [good, bad] = [[...tally.replies], [...tally.replies]].map((all, at) =>
    all.filter(([, { error }]) => (error === undefined) === (at === 0)),
  ) as [[string, Reply][], [string, Reply][]];
  expect(killed).toBeGreaterThan(STORM_MS / KILL_EVERY_MS / 10);
  expect(tally.strays).toEqual([]);
  expect(good.filter(([key, { text }]) => text !== key)).toEqual([]);
  expect(bad.filter(([, { error }]) => !TOLD.test(String(error)))).toEqual([]);
  expect(good.length).toBeGreaterThan(100);
  // the tools' own count: once for an answer, never for what was not sent, never twice
  expect([...ran].filter(([, times]) => times !== 1)).toEqual([]);
  expect(good.filter(([key]) => !ran.has(key))).toEqual([]);
  expect(bad.filter(([key, { sent }]) => sent === false && ran.has(key))).toEqual([]);
  measured(
    `L2: ${killed} kills in ${STORM_MS / 1000} s, ${tally.asked} calls: ${good.length} answered, ${bad.length} typed errors (${bad.filter(([, { sent }]) => sent).length} of calls that had been sent), 0 lost, 0 doubled, 0 ran twice`,
  );

  const { servers } = await fleet.status();
  expect(servers.map(({ state, in_flight }) => ({ state, in_flight }))).toEqual(
    SERVERS.map(() => ({ state: 'connected', in_flight: 0 })),
  );
  await until(() => processesOf(daemon.id).length === SERVERS.length + 1);
  await until(() => openFiles(daemon.pid).length <= filesBefore.length, 5000).catch(() => undefined);
  expect(openFiles(daemon.pid)).toEqual(filesBefore);
}, 180_000);
