import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRegistry, type RegistryServer } from '../../src/registry/index.js';
import { readServer } from '../../src/registry/read-server.js';
import { latestOfEach } from '../../src/registry/registry.js';
import { compareVersions } from '../../src/shared/text/compare-versions.js';
import { makeFolder } from '../support/folder.js';
import { instantRetries } from './http-options.js';
import { type Published, startRegistry } from './server.js';
import { context7, deleted, deprecated, simple, snakeCase } from './shapes.js';

const NOW = Date.parse('2026-06-01T12:00:00Z');

async function begin(published: readonly Published[]) {
  const server = await startRegistry(published);
  const cacheFolder = makeFolder();
  const open = (tryMs = 5000) =>
    openRegistry({ base: server.url, cacheFolder, http: instantRetries({ tryMs }), now: () => NOW });
  return { server, cacheFolder, registry: open() };
}

const many = Array.from({ length: 250 }, (_, index) =>
  simple(`com.example/s${String(index).padStart(3, '0')}`),
).flat();
const names = (servers: readonly RegistryServer[]) => servers.map(({ name }) => name);

describe('search', () => {
  it('reads pages of at most 100 until the limit is reached', async () => {
    const { server, registry } = await begin(many);
    const { servers, nextCursor } = await registry.search('', 230, undefined);
    expect(names(servers)).toEqual(many.slice(0, 230).map((one) => one.server.name));
    const limits = server.requests.map((url) => new URL(url, 'http://x').searchParams.get('limit'));
    expect(limits).toEqual(['100', '100', '30']);
    const rest = await registry.search('', 100, nextCursor);
    expect(names(rest.servers)).toEqual(many.slice(230).map((one) => one.server.name));
    expect(rest.nextCursor).toBeUndefined();
  });

  it('requests the latest versions, and keeps one of each when a registry sends all', async () => {
    const all = [...simple('com.example/a', '1.9.0', '1.10.0'), ...simple('com.example/b')];
    const { server, registry } = await begin(all);
    const { servers } = await registry.search('example', 10, undefined);
    expect(servers.map(({ name, version }) => `${name}@${version}`)).toEqual([
      'com.example/a@1.10.0',
      'com.example/b@1.0.0',
    ]);
    expect(server.requests[0]).toBe('/v0.1/servers?search=example&limit=10&version=latest');
    const unsorted = [...all].reverse().map(({ server: one }) => readServer(one) as RegistryServer);
    expect(latestOfEach(unsorted).map(({ version }) => version)).toEqual(['1.0.0', '1.10.0']);
  });

  it('a bad entry is skipped and reported, the others are found', async () => {
    const { server, registry } = await begin([context7, snakeCase]);
    server.malformed.push(
      null,
      'text',
      { server: {} },
      { server: { name: 'x/y\u0007' } },
      {
        server: { name: 'x/z', packages: 'none' },
      },
    );
    const { servers, skipped } = await registry.search('', 10, undefined);
    expect(names(servers)).toEqual(['io.github.upstash/context7', 'io.github.old/snake']);
    expect(skipped).toEqual([
      'entry 1: it is not an object',
      'entry 2: it is not an object',
      'entry 3: it has no name',
      'entry 4: its name has control characters',
      'entry 5: x/z: its packages are not a list',
    ]);
  });

  it('deleted servers are not found, deprecated ones are', async () => {
    const { registry } = await begin([deleted, deprecated]);
    const { servers } = await registry.search('', 10, undefined);
    expect(servers.map(({ name, status }) => [name, status])).toEqual([
      ['com.example/deprecated', 'deprecated'],
    ]);
  });

  it('names in any script are found', async () => {
    const { registry } = await begin(simple('jp.例え/ファイル-é-🐑'));
    expect(names((await registry.search('ファイル', 10, undefined)).servers)).toEqual([
      'jp.例え/ファイル-é-🐑',
    ]);
    expect((await registry.find('jp.例え/ファイル-é-🐑', 'latest')).server.version).toBe('1.0.0');
  });

  it('a cursor that repeats itself ends the search', async () => {
    const { server, registry } = await begin([context7]);
    const body = JSON.stringify({ servers: [context7], metadata: { nextCursor: 'same' } });
    server.faults.push({ status: 200, body }, { status: 200, body });
    expect(names((await registry.search('', 10, undefined)).servers)).toEqual(['io.github.upstash/context7']);
    expect(server.requests).toHaveLength(2);
  });
});

describe('one server', () => {
  it('is found by its full name, latest or in a version; versions are newest first', async () => {
    const all = simple('com.example/a', '1.0.0', '2.0.0');
    all[1]!.publishedAt = '2026-05-02T00:00:00Z';
    const { server, registry } = await begin(all);
    expect((await registry.find('com.example/a', 'latest')).server.version).toBe('2.0.0');
    expect((await registry.find('com.example/a', '1.0.0')).server.version).toBe('1.0.0');
    expect(server.requests[0]).toBe('/v0.1/servers/com.example%2Fa/versions/latest');
    expect(await registry.versions('com.example/a')).toEqual(['2.0.0', '1.0.0']);
    await expect(registry.find('com.example/a', '3.0.0')).rejects.toMatchObject({
      type: 'RegistryNotFoundError',
    });
  });
});

describe('offline', () => {
  it('the last answer to the same request is used, with its time and the reason', async () => {
    const { server, registry } = await begin([context7]);
    const online = await registry.search('context', 5, undefined);
    await registry.find('io.github.upstash/context7', 'latest');
    await server.close();
    const { offline, ...found } = await registry.search('context', 5, undefined);
    expect(found.servers).toEqual(online.servers);
    expect(found.cachedAt).toBe('2026-06-01T12:00:00.000Z');
    expect(offline?.why).toMatch(/ECONNREFUSED/);
    const one = await registry.find('io.github.upstash/context7', 'latest');
    expect([one.server.name, one.cachedAt]).toEqual([
      'io.github.upstash/context7',
      '2026-06-01T12:00:00.000Z',
    ]);
  });

  it('a new request is answered from all cached answers', async () => {
    const { server, registry } = await begin([context7, ...simple('com.example/a', '1.0.0', '2.0.0')]);
    await registry.search('', 50, undefined);
    await server.close();
    expect(names((await registry.search('CONTEXT', 5, undefined)).servers)).toEqual([
      'io.github.upstash/context7',
    ]);
    expect((await registry.find('com.example/a', '2.0.0')).server.version).toBe('2.0.0');
    await expect(registry.find('com.example/a', '1.0.0')).rejects.toMatchObject({
      type: 'RegistryUnreachableError',
    });
    await expect(registry.search('nothing', 5, undefined)).rejects.toMatchObject({
      type: 'RegistryUnreachableError',
    });
  });

  it('a damaged cache is ignored', async () => {
    const { server, cacheFolder, registry } = await begin([context7]);
    await registry.search('', 5, undefined);
    for (const file of readdirSync(cacheFolder)) writeFileSync(join(cacheFolder, file), '{"url":"x"}\n{{{');
    await server.close();
    await expect(registry.search('', 5, undefined)).rejects.toMatchObject({
      type: 'RegistryUnreachableError',
    });
  });

  it('a 404 is final: the cache is not used', async () => {
    const { server, registry } = await begin([context7]);
    await registry.find('io.github.upstash/context7', 'latest');
    server.faults.push({ status: 404 });
    await expect(registry.find('io.github.upstash/context7', 'latest')).rejects.toMatchObject({
      type: 'RegistryNotFoundError',
    });
  });
});

describe('versions', () => {
  it.each([
    ['1.10.0', '1.9.0'],
    ['1.0.0', '1.0.0-beta.2'],
    ['1.0.0-rc', '1.0.0-beta'],
    ['1.0.0-rc.10', '1.0.0-rc.9'],
    ['v2', '1.9.9'],
    ['2026.8.31', '2026.8.4'],
    ['1.0.1', '1.0'],
  ])('%s is newer than %s', (newer, older) => {
    expect(compareVersions(newer, older)).toBeGreaterThan(0);
    expect(compareVersions(older, newer)).toBeLessThan(0);
    expect(compareVersions(newer, newer)).toBe(0);
  });
});
