import fc from 'fast-check';
import { expect, it } from 'vitest';
import { config, server } from '../faults/config.js';
import { measured } from '../faults/measured.js';
import { RawClient } from '../ipc/support.js';
import { isAlive, startHerd, until } from '../support/herd.js';
import { openFiles } from '../support/processes.js';
import { expectNoFault } from './faults.js';
import { cutInto, legible, mutated } from './mutations.js';
import { expectedOf, idKey, requestsOf } from './requests.js';
import { livingRuns, PATIENCE_MS } from './runs.js';

/** Not in any message that is mutated, so that none can mean it. */
const BYSTANDER = 'bystander-7f3';
const TAGS = ['tag-one', 'tag-two', 'tag-three'];

const glue = fc.constantFrom('\n', '\n', '\n', '\n', '\r\n', '\n\n', '', ' ');
const noise = fc.uint8Array({ maxLength: 300 }).map((raw) => Buffer.from(raw));

/** What one client sends: messages, good, bad and worse, one behind the other, in pieces. */
const talk = (tag: string) =>
  fc
    .tuple(
      fc.array(
        fc.tuple(
          fc.oneof({ weight: 8, arbitrary: mutated(requestsOf(tag), 0) }, { weight: 1, arbitrary: noise }),
          glue,
        ),
        { minLength: 1, maxLength: 10 },
      ),
      fc.array(fc.nat(), { maxLength: 5 }),
    )
    .map(([parts, cuts]) => {
      const bytes = Buffer.concat([
        ...parts.flatMap(([line, end]) => [line, Buffer.from(end)]),
        Buffer.from('\n'),
      ]);
      return { bytes: legible(bytes), cuts };
    })
    .filter(({ bytes }) => !expectedOf(bytes).isOther);

type Message = Record<string, unknown>;
type Talk = { bytes: Buffer; cuts: number[] };

async function converse(socket: string, tag: string, { bytes, cuts }: Talk): Promise<number> {
  const client = await RawClient.open(socket);
  for (const piece of cutInto(bytes, cuts)) await client.write(piece);
  client.ask('last', 'ping');
  const { ids, free } = expectedOf(bytes);
  const wanted = [...ids.filter((id) => !free.has(id)), idKey('last')].sort();
  const answers = () =>
    client.lines
      .flatMap((line): Message[] => [JSON.parse(line)].flat() as Message[])
      .filter((message) => message.method === undefined)
      .map(({ id }) => idKey(id));
  const mustCome = () =>
    answers()
      .filter((id) => !free.has(id))
      .sort();
  await until(() => mustCome().length >= wanted.length, 20_000).catch(() => undefined);
  client.ask('settled', 'ping');
  await until(() => answers().includes(idKey('settled')));
  expect(mustCome().filter((id) => id !== idKey('settled'))).toEqual(wanted);
  for (const id of free) {
    expect(answers().filter((one) => one === id).length).toBeLessThanOrEqual(
      ids.filter((one) => one === id).length,
    );
  }
  for (const other of TAGS.filter((one) => one !== tag))
    expect(client.lines.join('\n')).not.toContain(`${other}-`);
  client.socket.destroy();
  return wanted.length;
}

const descriptors = (pid: number) => openFiles(pid).length;

it(
  'L3: each request is answered once for any input of clients, other clients are served, and nothing leaks',
  async () => {
    const { home, daemon, fleet, status } = await startHerd(
      config(
        [server('good', 'good.mjs'), server('spare', 'good.mjs'), server(BYSTANDER, 'good.mjs')],
        // a server that a mutated line registers may hang, and each answer is waited for only for 20 s
        { list_wait: 2 },
      ),
    );
    await fleet.start({ servers: ['good', BYSTANDER] }, true);
    const before = descriptors(daemon.pid);
    let [answers, calls, isOver] = [0, 0, false];
    const beside = (async () => {
      for (; !isOver; calls += 1) {
        const { content } = await fleet.call({
          server: BYSTANDER,
          tool: 'echo',
          arguments: { value: calls },
        });
        expect(content).toEqual([{ type: 'text', text: String(calls) }]);
        await new Promise(setImmediate);
      }
    })();
    beside.catch(() => undefined);
    await fc.assert(
      fc.asyncProperty(
        ...(TAGS.map(talk) as [fc.Arbitrary<Talk>, ...fc.Arbitrary<Talk>[]]),
        async (...talks) => {
          const counts = await Promise.all(talks.map((one, at) => converse(home.socket, TAGS[at]!, one)));
          answers += counts.reduce((sum, count) => sum + count, 0);
          expect(isAlive(daemon.pid)).toBe(true);
        },
      ),
      livingRuns(30, 5000),
    );
    isOver = true;
    await beside;
    expect(calls).toBeGreaterThan(5);
    measured(`L3: ${answers} answers to mutated lines, ${calls} calls of a healthy client meanwhile`);
    await until(async () => (await fleet.status()).servers.every(({ in_flight }) => in_flight === 0));
    expectNoFault(home);
    expect(await status(BYSTANDER)).toMatchObject({ incarnation: 1, failures: 0 });
    // of what was registered or started meanwhile a few may be open
    await until(() => descriptors(daemon.pid) <= before + 12);
  },
  PATIENCE_MS,
);
