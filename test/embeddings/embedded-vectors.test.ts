import { appendFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EmbeddedVectors, type EmbeddedVectorsOptions } from '../../src/embeddings/embedded-vectors.js';
import { nextTurn } from '../../src/shared/async.js';
import { systemClock } from '../../src/shared/clock.js';
import {
  answer,
  type Behaviour,
  type EmbeddingServer,
  embeddingServer,
  good,
  meaningOf,
} from '../support/embedding-server.js';
import { makeFolder } from '../support/folder.js';
import { atEnd } from '../support/share.js';
import { until } from '../support/until.js';

const KEY = 'sk-very-secret-0123456789';
const PATIENT = { queryMs: 10_000 };

function open(
  server: Pick<EmbeddingServer, 'url'>,
  more: Partial<EmbeddedVectorsOptions> = {},
  service: Partial<EmbeddedVectorsOptions['service']> = {},
) {
  const warnings: string[] = [];
  const folder = more.folder ?? makeFolder();
  const vectors = new EmbeddedVectors({
    service: { url: server.url, model: 'toy', key: KEY, ...service },
    clock: systemClock,
    warn: (text) => warnings.push(text),
    restMs: 20,
    ...more,
    folder,
  });
  atEnd(() => vectors.close());
  const known = (text: string) => until(() => vectors.of(text));
  return { vectors, warnings, folder, known };
}

const unit = (text: string) => {
  const numbers = meaningOf(text);
  const length = Math.hypot(...numbers);
  return numbers.map((number) => number / length);
};
const near = (vector: Float32Array | undefined, text: string) =>
  vector !== undefined && unit(text).every((number, at) => Math.abs(number - vector[at]!) < 1e-6);

/** The file in this folder, as soon as it has so many vectors: it is written after they are known. */
function written(folder: string, count: number): Promise<string> {
  const size = 'toolherd-vec1'.length + 4 + count * (32 + 4 * meaningOf('').length);
  return until(() => {
    const file = join(folder, readdirSync(folder).find((name) => name.endsWith('.vectors')) ?? 'none');
    return existsSync(file) && statSync(file).size === size ? file : undefined;
  });
}

describe('vectors of a service', () => {
  it('come in the background, of length 1, each for its own text', async () => {
    const server = await embeddingServer();
    const { vectors, known } = open(server);
    const texts = ['a letter', 'a picture', 'to erase'];
    expect(texts.map((text) => vectors.of(text))).toEqual([undefined, undefined, undefined]);
    for (const text of texts) expect([text, near(await known(text), text)]).toEqual([text, true]);
  });

  it('are asked for with the model and the key, at URL/embeddings', async () => {
    const server = await embeddingServer();
    await open(server).known('a letter');
    expect(server.requests[0]).toEqual({
      path: '/v1/embeddings',
      authorization: `Bearer ${KEY}`,
      model: 'toy',
      input: ['a letter'],
    });
    const bare = await embeddingServer();
    const { known } = open({ url: `${bare.url}/embeddings/` }, {}, { model: undefined, key: undefined });
    await known('a letter');
    expect(bare.requests[0]).toEqual({
      path: '/v1/embeddings',
      authorization: undefined,
      model: undefined,
      input: ['a letter'],
    });
  });

  it('come in batches of 32, and no text is asked for twice', async () => {
    const server = await embeddingServer();
    const { vectors } = open(server);
    const texts = Array.from({ length: 100 }, (_, at) => `tool ${at}`);
    await until(() => texts.map((text) => vectors.of(text)).every((vector) => vector !== undefined));
    const asked = server.requests.flatMap(({ input }) => input);
    expect([asked.length, new Set(asked).size]).toEqual([100, 100]);
    expect(Math.max(...server.requests.map(({ input }) => input.length))).toBe(32);
    await until(() => vectors.report().waiting === 0);
    expect(vectors.report()).toMatchObject({ vectors: 100, problem: null });
  });

  it('are not asked for again while the service works on them', async () => {
    const server = await embeddingServer();
    let release: () => void = () => undefined;
    server.behave((response, input) => {
      release = () => good(response, input);
    });
    const { vectors, known } = open(server);
    await until(() => {
      vectors.of('a letter');
      return server.requests.length === 1;
    });
    vectors.of('a letter');
    server.behave(good);
    release();
    await known('a letter');
    await until(() => vectors.report().waiting === 0);
    expect(server.requests).toHaveLength(1);
  });

  it('are kept in a private file by text and model: another daemon asks for nothing', async () => {
    const server = await embeddingServer();
    const { vectors, folder, known } = open(server);
    const first = await known('a letter');
    await known('a picture');
    const file = await written(folder, 2);
    await vectors.close();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    server.requests.length = 0;
    const again = open(server, { folder });
    expect(await again.known('a letter')).toEqual(first);
    await again.known('a picture');
    expect(server.requests).toEqual([]);
    const other = open(server, { folder }, { model: 'another' });
    await other.known('a letter');
    expect(server.requests.map(({ input, model }) => [model, input])).toEqual([['another', ['a letter']]]);
  });

  it('survive a file with half a vector at its end; a file of other bytes is written anew', async () => {
    const server = await embeddingServer();
    const { folder, known, vectors } = open(server);
    await known('a letter');
    const file = await written(folder, 1);
    await vectors.close();
    const whole = readFileSync(file);
    appendFileSync(file, Buffer.alloc(50, 7));
    await open(server, { folder }).known('a letter');
    expect([server.requests.length, readFileSync(file).equals(whole)]).toEqual([1, true]);
    writeFileSync(file, Buffer.alloc(5000, 7));
    await open(server, { folder }).known('a letter');
    expect(server.requests).toHaveLength(2);
    await until(() => readFileSync(file).equals(whole));
  });

  it('are bounded in memory and in the file', async () => {
    const server = await embeddingServer();
    const bytes = 4 * meaningOf('').length;
    const { vectors, folder } = open(server, { mostBytes: 40 * bytes });
    const texts = Array.from({ length: 200 }, (_, at) => `tool ${at}`);
    const count = () => texts.filter((text) => vectors.of(text) !== undefined).length;
    await until(() => count() >= 40);
    await until(() => vectors.report().waiting === 0);
    expect(count()).toBeLessThanOrEqual(40 + 32);
    await written(folder, count());
  });
});

const data = (embedding: unknown) => (response: Parameters<Behaviour>[0], input: string[]) =>
  answer(response, { data: input.map((_, index) => ({ index, embedding })) });
const flood: Behaviour = (response) => {
  const more = () => {
    while (response.write('[0.1,'.repeat(10_000)));
  };
  response.on('drain', more);
  more();
};

const FAULTS: [string, Behaviour, string][] = [
  ['HTTP 500', (response) => void response.writeHead(500).end('oh'), 'HTTP status 500'],
  ['HTTP 401 with the key in its text', (response) => void response.writeHead(401).end(KEY), '401'],
  ['no JSON', (response) => answer(response, `<html>${KEY}`), 'no JSON'],
  ['no vectors', (response) => answer(response, {}), 'one vector for each text'],
  ['too few vectors', (response) => answer(response, { data: [] }), 'one vector for each text'],
  [
    'the same index for all',
    (response, input) =>
      answer(response, { data: input.map(() => ({ index: 7, embedding: meaningOf('') })) }),
    'one vector for each text',
  ],
  ['NaN as text', data(['NaN', 1, 2, 3, 4, 5, 6, 7]), 'no meaning'],
  ['null as a number', data([null, 1, 2, 3, 4, 5, 6, 7]), 'no meaning'],
  ['zeros', data([0, 0, 0, 0, 0, 0, 0, 0]), 'no meaning'],
  ['an empty vector', data([]), 'no meaning'],
  ['a text instead of a vector', data('AAAA'), 'no meaning'],
  ['an endless number', (response, input) => answer(response, infinite(input.length)), 'no meaning'],
  ['10,000 dimensions', data(new Array(10_000).fill(1)), 'no meaning'],
  ['another length than before', data([1, 2, 3]), 'different lengths'],
  ['an endless answer', flood, 'too large'],
  ['a broken connection', (response) => void response.destroy(), 'the connection failed'],
  [
    'a redirect',
    (response) => void response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
    'the connection failed',
  ],
];

const infinite = (count: number) =>
  `{"data":[${Array.from({ length: count }, (_, index) => `{"index":${index},"embedding":[1e999,1]}`)}]}`;

describe('a service that answers with', () => {
  it.each(FAULTS)('%s: no vectors, one warning, and vectors again afterwards', async (_, behaviour, why) => {
    const server = await embeddingServer();
    const { vectors, warnings, known } = open(server, PATIENT);
    await known('a letter');
    server.behave(behaviour);
    expect(await vectors.ofQuery('correspondence')).toBeUndefined();
    expect(vectors.of('a picture')).toBeUndefined();
    await until(() => server.requests.filter(({ input }) => input.includes('a picture')).length > 1);
    expect(vectors.report().problem).toContain(why);
    expect(warnings).toEqual([expect.stringContaining(why)]);
    expect(JSON.stringify([warnings, vectors.report()])).not.toContain(KEY);
    expect(near(vectors.of('a letter'), 'a letter')).toBe(true);
    server.behave(good);
    await known('a picture');
    await until(() => vectors.ofQuery('correspondence'));
    expect(vectors.report().problem).toBeNull();
  });
});

describe('closing vectors', () => {
  it('waits until the file has all that are known', async () => {
    const server = await embeddingServer();
    const { vectors, folder } = open(server);
    // the file is written from the turn on in which a vector becomes known
    while (vectors.of('a letter') === undefined) await nextTurn();
    await vectors.close();
    expect(readdirSync(folder)).toEqual([expect.stringMatching(/^[0-9a-f]{64}\.vectors$/)]);
  });
});

describe('the vector of a query', () => {
  it('is not waited for longer than its time, and then not asked for during a rest', async () => {
    const server = await embeddingServer();
    const { vectors, known, warnings } = open(server, { queryMs: 100, restMs: 60_000 });
    await known('a letter');
    server.behave(() => undefined);
    const begun = performance.now();
    expect(await vectors.ofQuery('mail')).toBeUndefined();
    expect(performance.now() - begun).toBeGreaterThanOrEqual(95);
    const asked = server.requests.length;
    expect(await vectors.ofQuery('mail')).toBeUndefined();
    expect(server.requests).toHaveLength(asked);
    expect(warnings).toEqual([expect.stringContaining('does not answer in time')]);
  });

  it('is not asked for before a tool has a vector', async () => {
    const server = await embeddingServer();
    const { vectors } = open(server);
    expect(await vectors.ofQuery('mail')).toBeUndefined();
    expect(server.requests).toEqual([]);
  });

  it('is missing where nothing listens', async () => {
    const server = await embeddingServer();
    const { vectors, known, warnings } = open(server, PATIENT);
    await known('a letter');
    await server.close();
    expect(await vectors.ofQuery('mail')).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining('the connection failed')]);
  });
});
