import { describe, expect, it } from 'vitest';
import { getWithRetries } from '../../src/registry/get-with-retries.js';
import { parseRetryAfter } from '../../src/shared/retry-after.js';
import { instantRetries } from './http-options.js';
import { type Fault, startRegistry } from './server.js';
import { context7 } from './shapes.js';

async function begin(...faults: Fault[]) {
  const registry = await startRegistry([context7]);
  registry.faults.push(...faults);
  return { registry, url: new URL(`${registry.url}/servers`) };
}

describe('a request to the registry', () => {
  it('is repeated after 5xx, 429 and a broken connection, with growing pauses', async () => {
    const { registry, url } = await begin({ status: 500 }, 'reset', { status: 429 });
    const http = instantRetries();
    expect(await getWithRetries(url, 4, http)).toMatchObject({ kind: 'found' });
    expect(registry.requests).toHaveLength(4);
    expect(http.pauses).toEqual([250, 500, 1000]);
  });

  it('waits as long as Retry-After says, in seconds or until a date; a date that has passed says nothing', async () => {
    const { url } = await begin(
      { status: 429, headers: { 'retry-after': '7' } },
      { status: 503, headers: { 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' } },
    );
    const http = instantRetries();
    await getWithRetries(url, 4, http);
    expect(http.pauses).toEqual([7000, 500]);
    expect(parseRetryAfter('Thu, 01 Jan 1970 00:00:05 GMT', 2000)).toBe(3000);
    expect([parseRetryAfter('soon', 0), parseRetryAfter(null, 0)]).toEqual([undefined, undefined]);
  });

  it('fails at once when Retry-After is too long', async () => {
    const { registry, url } = await begin({ status: 429, headers: { 'retry-after': '3600' } });
    await expect(getWithRetries(url, 4, instantRetries())).rejects.toMatchObject({
      type: 'RegistryUnreachableError',
      why: 'it answered with status 429 and wants to be asked again in 3600 s',
    });
    expect(registry.requests).toHaveLength(1);
  });

  it('fails after the last try; the error has the reason, the number of tries and a fix', async () => {
    const { registry, url } = await begin({ status: 502 }, { status: 502 }, { status: 502 });
    await expect(getWithRetries(url, 3, instantRetries())).rejects.toMatchObject({
      message: `the registry at ${url.origin} cannot be used`,
      why: 'it answered with status 502 (asked 3 times)',
      fix: expect.stringContaining('TOOLHERD_REGISTRY'),
    });
    expect(registry.requests).toHaveLength(3);
  });

  it('is repeated when the registry does not answer', async () => {
    const { registry, url } = await begin('silence');
    expect(await getWithRetries(url, 2, instantRetries({ tryMs: 1500 }))).toMatchObject({ kind: 'found' });
    expect(registry.requests).toHaveLength(2);
    registry.faults.push('silence');
    await expect(getWithRetries(url, 1, instantRetries({ tryMs: 300 }))).rejects.toMatchObject({
      why: 'it did not answer within 0.3 s',
    });
  });

  it('ends with the timeout of the caller, in a try and in a pause', async () => {
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
  ])('is not repeated when the answer would be the same: %o', async (fault, why) => {
    const { registry, url } = await begin(fault);
    await expect(getWithRetries(url, 4, instantRetries())).rejects.toMatchObject({ why });
    expect(registry.requests).toHaveLength(1);
  });

  it('a registry that does not answer and a 404 are different outcomes', async () => {
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
