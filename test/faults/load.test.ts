import { expect, it } from 'vitest';
import { startHerd } from '../support/herd.js';
import { Caller, type Vocabulary } from './caller.js';
import { config, server } from './config.js';
import { measured } from './measured.js';

const CONNECTIONS = 50;
const SERVERS = Array.from({ length: process.env.TOOLHERD_LONG ? 20 : 6 }, (_, at) => `s${at}`);
/** Of each connection to each server; `npm run faults` calls a million times in all. */
const CALLS = process.env.TOOLHERD_LONG ? 1000 : 12;

interface Counts {
  answered: number;
  crossed: number;
  failed: string[];
  strays: string[];
}

/** Has one call in flight at each server, all the time, until each was called often enough. */
function callEach(socket: string, who: number): Promise<Counts> {
  const counts: Counts = { answered: 0, crossed: 0, failed: [], strays: [] };
  const words: Vocabulary = who % 2 === 0 ? 'mcp' : 'fleet';
  const asked = new Map<number, { server: string; round: number; key: string }>();
  return new Promise((resolve) => {
    const next = (name: string, round: number) => {
      const key = `${who}/${name}/${round}`;
      asked.set(caller.call(name, key, words), { server: name, round, key });
    };
    const caller: Caller = new Caller(
      socket,
      ({ id, text, error }) => {
        const { server: name, round, key } = asked.get(id)!;
        asked.delete(id);
        counts.answered += 1;
        if (error !== undefined) counts.failed.push(error);
        else if (text !== key) counts.crossed += 1;
        if (round < CALLS) next(name, round + 1);
        else if (asked.size === 0) void caller.end().then(() => resolve(counts));
      },
      (line) => counts.strays.push(line),
    );
    for (const name of SERVERS) next(name, 1);
  });
}

it('L1: many connections, servers and calls at once lose, double and cross no call; a tool runs once per call', async () => {
  const { home, fleet, say } = await startHerd(config(SERVERS.map((name) => server(name, 'counts.mjs'))));
  await fleet.start({ all: true }, true);
  const began = performance.now();
  const told = await Promise.all(Array.from({ length: CONNECTIONS }, (_, who) => callEach(home.socket, who)));
  const seconds = (performance.now() - began) / 1000;
  const perConnection = SERVERS.length * CALLS;
  expect(told).toEqual(told.map(() => ({ answered: perConnection, crossed: 0, failed: [], strays: [] })));
  for (const name of SERVERS) expect(await say(name, 'total')).toBe(String(CONNECTIONS * CALLS));
  const { servers } = await fleet.status();
  expect(servers.map(({ failures, in_flight, incarnation }) => [failures, in_flight, incarnation])).toEqual(
    SERVERS.map(() => [0, 0, 1]),
  );
  measured(
    `L1: ${CONNECTIONS * perConnection} calls in ${seconds.toFixed(1)} s (${Math.round((CONNECTIONS * perConnection) / seconds)} a second), 0 lost, 0 doubled, 0 crossed`,
  );
}, 600_000);
