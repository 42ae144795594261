import { describe, expect, it } from 'vitest';
import { getWithRetries, parseRetryAfter } from '../../src/registry/get-with-retries.js';
import { instantRetries } from './http-options.js';
import { type Fault, startRegistry } from './server.js';
import { context7 } from './shapes.js';

async function begin(...faults: Fault[]) {
  const registry = await startRegistry([context7]);
  registry.faults.push(...faults);
  return { registry, url: new URL(`${registry.url}/servers`) };
}

describe('a question to the registry', () => {
  it('is asked again after 5xx, 429 and a broken connection, with longer and longer pauses', async () => {
    const { registry, url } = await begin({ status: 500 }, 'reset', { status: 429 });
    const http = instantRetries();
    expect(await getWithRetries(url, 4, http)).toMatchObject({ kind: 'found' });
    expect(registry.requests).toHaveLength(4);
    expect(http.pauses).toEqual([250, 500, 1000]);
  });

  it('waits as long as Retry-After says, in seconds or until a date', async () => {
    const { url } = await begin(
      { status: 429, headers: { 'retry-after': '7' } },
      { status: 503, headers: { 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' } },
    );
    const http = instantRetries();
    await getWithRetries(url, 4, http);
    expect(http.pauses).toEqual([7000, 0]);
    expect(parseRetryAfter('Thu, 01 Jan 1970 00:00:05 GMT', 2000)).toBe(3000);
    expect([parseRetryAfter('soon', 0), parseRetryAfter(null, 0)]).toEqual([undefined, undefined]);
  });

  it('is given up when the registry wants to be left alone for long', async () => {
    const { registry, url } = await begin({ status: 429, headers: { 'retry-after': '3600' } });
    await expect(getWithRetries(url, 4, instantRetries())).rejects.toMatchObject({
      type: 'RegistryUnreachableError',
      why: 'it answered with status 429 and wants to be asked again in 3600 s',
    });
    expect(registry.requests).toHaveLength(1);
  });

  it('is given up after the last try; the error says why, how often, and what to look at', async () => {
    const { registry, url } = await begin({ status: 502 }, { status: 502 }, { status: 502 });
    await expect(getWithRetries(url, 3, instantRetries())).rejects.toMatchObject({
      message: `the registry at ${url.origin} cannot be used`,
      why: 'it answered with status 502 (asked 3 times)',
      fix: expect.stringContaining('TOOLHERD_REGISTRY'),
    });
    expect(registry.requests).toHaveLength(3);
  });

  it('a silent registry is asked again', async () => {
    const { registry, url } = await begin('silence');
    expect(await getWithRetries(url, 2, instantRetries({ tryMs: 1500 }))).toMatchObject({ kind: 'found' });
    expect(registry.requests).toHaveLength(2);
    registry.faults.push('silence');
    await expect(getWithRetries(url, 1, instantRetries({ tryMs: 300 }))).rejects.toMatchObject({
      why: 'it did not answer within 0.3 s',
    });
  });

  it('the time of the caller ends it, in a try and in a pause', async () => {
    const { url } = await begin('silence');
    const http = instantRetries({ signal: AbortSignal.timeout(200) });
    await expect(getWithRetries(url, 9, http)).rejects.toMatchObject({ type: 'RegistryTimeoutError' });
    const pausing = instantRetries({ sleep: () => Promise.reject(new Error('aborted')) });
    const second = await begin({ status: 500 });
    await expect(getWithRetries(second.url, 9, pausing)).rejects.toMatchObject({
      type: 'RegistryTimeoutError',
    });
  });

  it.each([
    [{ status: 400 }, 'it answered with status 400'],
    [{ status: 200, body: '<html>sign in</html>' }, 'its answer is not JSON'],
  ])('what would be the same again is not asked again: %o', async (fault, why) => {
    const { registry, url } = await begin(fault);
    await expect(getWithRetries(url, 4, instantRetries())).rejects.toMatchObject({ why });
    expect(registry.requests).toHaveLength(1);
  });

  it('nobody there, and nothing found, are different answers', async () => {
    const { registry, url } = await begin();
    expect(await getWithRetries(new URL(`${url}/none/versions/latest`), 4, instantRetries())).toEqual({
      kind: 'not-found',
    });
    await registry.close();
    await expect(getWithRetries(url, 2, instantRetries())).rejects.toMatchObject({
      why: /ECONNREFUSED.*asked 2 times/,
    });
  });
});
