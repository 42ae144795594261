import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { config, server } from '../../faults/config.js';
import { measured } from '../../faults/measured.js';
import { startHerd } from '../../support/herd.js';
import { type Line, textOf } from './support.js';

const CONNECTIONS = 50;
/** `npm run faults` calls 100,000 times in all. */
const ROUNDS = process.env.TOOLHERD_LONG ? 2000 : 400;

/** Calls one after the other, always with id 1 and the token t; every tenth wants progress. Counts what is not its own. */
function callAgainAndAgain(path: string, who: number): Promise<{ answered: number; crossed: number }> {
  const times = 1 + (who % 7);
  const socket = connect(path);
  let round = 0;
  let crossed = 0;
  let progress = 0;
  const isProgress = () => round % 10 === 0;
  const next = () => {
    const [name, given] = isProgress()
      ? ['good__progress', { times }]
      : ['good__echo', { value: `${who}/${round}` }];
    const params = { name, arguments: given, _meta: { progressToken: 't' } };
    socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })}\n`);
  };
  const hear = (line: Line) => {
    if (line.method !== undefined) {
      progress += 1;
      if (!isProgress() || line.params?.total !== times || line.params.progressToken !== 't') crossed += 1;
      return;
    }
    if (line.id === 'end' && round === ROUNDS) {
      socket.destroy();
      return;
    }
    const isOwn = isProgress()
      ? textOf(line) === 'done' && progress === times
      : textOf(line) === `${who}/${round}`;
    if (line.id !== 1 || !isOwn) crossed += 1;
    progress = 0;
    round += 1;
    if (round < ROUNDS) next();
    // what comes in front of its answer came twice
    else socket.write('{"jsonrpc":"2.0","id":"end","method":"ping"}\n');
  };
  createInterface({ input: socket }).on('line', (text) => hear(JSON.parse(text)));
  next();
  return new Promise((resolve) => socket.once('close', () => resolve({ answered: round, crossed })));
}

it('S10: 50 connections with one id and one token: no call is lost, doubled or crossed', async () => {
  const { home, fleet } = await startHerd(config([server('good', 'good.mjs')]));
  await fleet.start({ all: true }, true);
  const all = Array.from({ length: CONNECTIONS }, (_, who) => callAgainAndAgain(home.socket, who));
  const told = await Promise.all(all);
  expect(told).toEqual(all.map(() => ({ answered: ROUNDS, crossed: 0 })));
  measured(`S10: ${CONNECTIONS * ROUNDS} calls by ${CONNECTIONS} connections, 0 crossed`);
  expect((await fleet.status()).servers[0]).toMatchObject({ calls: CONNECTIONS * ROUNDS, failures: 0 });
}, 300_000);
