import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ScopeRequiredError } from '../../../src/link/auth/errors.js';
import type { AuthRequiredError } from '../../../src/shared/call-errors.js';
import { FakeClock } from '../fake-clock.js';
import { approve, listen, startProtected } from './oauth-server.js';
import { httpSpec, makeAuthorizations, obtain, post } from './support.js';

/** What it rejects with. */
const failure = (promise: Promise<unknown>) =>
  promise.then(
    (value) => Promise.reject(new Error(`it did not fail: ${JSON.stringify(value)}`)),
    (error: AuthRequiredError) => error,
  );

const waiting = async (progress: Promise<{ state: string; url?: string; done?: Promise<void> }>) => {
  const { state, url, done } = await progress;
  expect(state).toBe('waiting');
  return { url: url!, done: done! };
};

describe('a server that wants an authorisation', () => {
  it('is refused with the next step, and answers once a person has authorised it', async () => {
    const guarded = await startProtected();
    const { authorizations, granted } = makeAuthorizations();
    const spec = httpSpec(guarded.url);
    expect(await failure(post(authorizations, spec))).toMatchObject({
      type: 'AuthRequiredError',
      message: 'guarded: wants an authorisation',
      fix: 'toolherd auth guarded',
      sent: false,
      retryable: false,
    });
    const { url, done } = await waiting(authorizations.authorize(spec));
    expect(Object.fromEntries(new URL(url).searchParams)).toMatchObject({
      scope: 'basic',
      resource: guarded.url,
      code_challenge_method: 'S256',
      state: expect.stringMatching(/^[\w-]{43}$/),
      redirect_uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/),
    });
    const page = await approve(url);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('Authorised')]);
    await done;
    expect(granted).toEqual(['guarded']);
    expect(await post(authorizations, spec)).toBe(200);
    expect(await authorizations.authorize(spec)).toEqual({ state: 'authorized' });
  });

  it('is probed where it is unknown whether it wants one', async () => {
    const guarded = await startProtected();
    const { authorizations } = makeAuthorizations();
    const { url } = await waiting(authorizations.authorize(httpSpec(guarded.url)));
    expect(new URL(url).searchParams.get('scope')).toBe('basic');
  });

  it('has one attempt at a time: a second request gets the same address', async () => {
    const guarded = await startProtected();
    const { authorizations } = makeAuthorizations();
    const spec = httpSpec(guarded.url);
    await failure(post(authorizations, spec));
    const both = await Promise.all([
      waiting(authorizations.authorize(spec)),
      waiting(authorizations.authorize(spec)),
    ]);
    expect(both[0].url).toBe(both[1].url);
    expect((await waiting(authorizations.authorize(spec))).url).toBe(both[0].url);
    expect(guarded.count('POST /register')).toBe(1);
  });

  it('keeps its authorisation over a restart of the daemon', async () => {
    const guarded = await startProtected();
    const { authorizations, folder } = makeAuthorizations();
    const spec = httpSpec(guarded.url);
    await obtain(authorizations, spec);
    expect(await post(makeAuthorizations(folder).authorizations, spec)).toBe(200);
  });

  it('a server of another name at the same url needs its own authorisation', async () => {
    const guarded = await startProtected();
    const { authorizations } = makeAuthorizations();
    await obtain(authorizations, httpSpec(guarded.url));
    await failure(post(authorizations, httpSpec(guarded.url, { name: 'other' })));
  });

  it('accepts a client that was registered by hand; only the first issuer gets its secret', async () => {
    const guarded = await startProtected({ clients: { mine: 'given-secret' } });
    const { authorizations, file } = makeAuthorizations();
    const spec = httpSpec(guarded.url);
    expect(await failure(authorizations.authorize(spec))).toMatchObject({
      type: 'AuthRequiredError',
      fix: expect.stringContaining('toolherd auth guarded --client-id ID --client-secret-stdin'),
    });
    const { url, done } = await waiting(
      authorizations.authorize(spec, { id: 'mine', secret: 'given-secret' }),
    );
    await approve(url);
    await done;
    expect(await post(authorizations, spec)).toBe(200);
    const { servers } = JSON.parse(readFileSync(file, 'utf8'));
    expect(servers[`guarded ${guarded.url}`].client).toEqual({
      client_id: 'mine',
      client_secret: 'given-secret',
      issuer: guarded.issuer,
    });
  });

  it('gets the url of a client metadata document where it supports that, and nothing is registered', async () => {
    const guarded = await startProtected({ metadata: { client_id_metadata_document_supported: true } });
    const { authorizations } = makeAuthorizations();
    const id = 'https://herd.example/client.json';
    const { url } = await waiting(authorizations.authorize(httpSpec(guarded.url), { id }));
    expect(new URL(url).searchParams.get('client_id')).toBe(id);
    expect(guarded.count('POST /register')).toBe(0);
  });
});

describe('a token', () => {
  it('that has ended is renewed once for eight calls at the same time, and all eight work', async () => {
    const guarded = await startProtected();
    const { authorizations } = makeAuthorizations();
    const spec = httpSpec(guarded.url);
    await obtain(authorizations, spec);
    guarded.expire();
    const calls = Array.from({ length: 8 }, () => post(authorizations, spec));
    expect(await Promise.all(calls)).toEqual(Array(8).fill(200));
    expect(guarded.count('grant refresh_token')).toBe(1);
  });

  it('that was renewed meanwhile is not renewed again for a call that comes back late', async () => {
    const guarded = await startProtected();
    const { authorizations } = makeAuthorizations();
    const spec = httpSpec(guarded.url);
    await obtain(authorizations, spec);
    guarded.expire();
    let isFirst = true;
    const slow = authorizations.layer(spec)!(async (url, init) => {
      const response = await fetch(url, init);
      // its refusal arrives when another call has renewed the token already
      if (isFirst) await post(authorizations, spec);
      isFirst = false;
      return response;
    });
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
    expect((await slow(spec.url, { method: 'POST', body })).status).toBe(200);
    expect(guarded.count('grant refresh_token')).toBe(1);
  });

  it('is renewed a minute before its end, without a call that fails', async () => {
    const guarded = await startProtected({ lifeS: 600 });
    const { authorizations, forward } = makeAuthorizations();
    const spec = httpSpec(guarded.url);
    await obtain(authorizations, spec);
    forward(530_000);
    await post(authorizations, spec);
    expect(guarded.count('grant refresh_token')).toBe(0);
    forward(11_000);
    await Promise.all([post(authorizations, spec), post(authorizations, spec)]);
    expect(guarded.count('grant refresh_token')).toBe(1);
    expect(guarded.forms.at(-1)?.get('resource')).toBe(guarded.url);
  });

  it('that cannot be renewed needs a person again', async () => {
    const guarded = await startProtected();
    const { authorizations } = makeAuthorizations();
    const spec = httpSpec(guarded.url);
    await obtain(authorizations, spec);
    guarded.revoke();
    expect(await failure(post(authorizations, spec))).toMatchObject({
      message: 'guarded: wants a new authorisation',
      why: 'its token could not be renewed (invalid_grant)',
      fix: 'toolherd auth guarded',
    });
    await obtain(authorizations, spec);
    expect(await post(authorizations, spec)).toBe(200);
    expect(guarded.count('POST /register')).toBe(1);
  });

  it('is used until it expires while the authorization server fails', async () => {
    let isDown = false;
    const guarded = await startProtected({
      lifeS: 600,
      token: (_, response) => {
        if (isDown) response.writeHead(503).end('later');
        return isDown;
      },
    });
    const { authorizations, forward } = makeAuthorizations();
    const spec = httpSpec(guarded.url);
    await obtain(authorizations, spec);
    isDown = true;
    forward(550_000);
    expect(await post(authorizations, spec)).toBe(200);
    forward(60_000);
    expect(await failure(post(authorizations, spec))).toMatchObject({
      type: 'MCPConnectionError',
      message: 'guarded: its token could not be renewed now',
      retryable: true,
    });
    isDown = false;
    expect(await post(authorizations, spec)).toBe(200);
  });

  it('is sent to the origin of the server only', async () => {
    const guarded = await startProtected();
    const { authorizations } = makeAuthorizations();
    const spec = httpSpec(guarded.url);
    await obtain(authorizations, spec);
    const seen: (string | null)[] = [];
    const send = authorizations.layer(spec)!(async (_, init) => {
      seen.push(new Headers(init?.headers).get('authorization'));
      return new Response();
    });
    await send(spec.url, {});
    await send('https://elsewhere.example/mcp', {});
    expect(seen).toEqual([expect.stringMatching(/^Bearer tok-access-/), null]);
  });

  it('is removed by a logout, with everything stored for the server', async () => {
    const guarded = await startProtected();
    const { authorizations, file } = makeAuthorizations();
    const spec = httpSpec(guarded.url);
    await obtain(authorizations, spec);
    expect(authorizations.forget(spec)).toBe(true);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ version: 1, servers: {} });
    await failure(post(authorizations, spec));
    expect(authorizations.forget(spec)).toBe(false);
  });

  it('is in one file that only its owner can read, and is removed from every text', async () => {
    const guarded = await startProtected({ mark: 'CANARY' });
    const { authorizations, file, logged } = makeAuthorizations();
    const spec = httpSpec(guarded.url);
    await obtain(authorizations, spec);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const text = readFileSync(file, 'utf8');
    expect(text).toContain('CANARY-access-');
    expect(authorizations.redact(text)).not.toMatch(/CANARY-(access|refresh|secret)/);
    guarded.revoke();
    const { message, why, fix } = await failure(post(authorizations, spec));
    expect(`${message} ${why} ${fix} ${logged}`).not.toContain('CANARY');
  });
});

describe('a 401 that asks for no token, as a gateway sends it', () => {
  const refused = async () => new Response('no', { status: 401 });

  it.each([
    ['a refresh token', true],
    ['no refresh token', false],
  ])('costs no token: the next request has it (with %s)', async (_, isRenewable) => {
    const guarded = await startProtected();
    const { authorizations, folder, file } = makeAuthorizations();
    const spec = httpSpec(guarded.url);
    await obtain(authorizations, spec);
    const drop = (key: string, value: unknown) => (key === 'refresh_token' ? undefined : value);
    if (!isRenewable) writeFileSync(file, JSON.stringify(JSON.parse(readFileSync(file, 'utf8')), drop));
    const { authorizations: next } = makeAuthorizations(folder);
    expect(await failure(next.layer(spec)!(refused)(spec.url))).toMatchObject({
      type: 'AuthRequiredError',
      message: 'guarded: answered 401 and did not ask for a token',
      fix: 'toolherd auth guarded --logout; then: toolherd auth guarded',
    });
    expect(await post(next, spec)).toBe(200);
  });

  it('has no challenge: the server is probed when a person authorises', async () => {
    const guarded = await startProtected();
    const { authorizations } = makeAuthorizations();
    const spec = httpSpec(guarded.url);
    expect(await failure(authorizations.layer(spec)!(refused)(spec.url))).toMatchObject({
      type: 'AuthRequiredError',
      fix: 'toolherd auth guarded',
    });
    const { url } = await waiting(authorizations.authorize(spec));
    expect(new URL(url).searchParams.get('scope')).toBe('basic');
  });
});

describe('more scope', () => {
  it('is requested in addition to the granted scope, and only the call that needs it fails', async () => {
    const guarded = await startProtected({ callScope: 'write' });
    const { authorizations } = makeAuthorizations();
    const spec = httpSpec(guarded.url);
    await obtain(authorizations, spec);
    const error = await failure(post(authorizations, spec, 'tools/call'));
    expect(error).toBeInstanceOf(ScopeRequiredError);
    expect(error).toMatchObject({
      type: 'AuthRequiredError',
      why: "it answered 403 and asks for the scope 'write'; the call was not taken",
      fix: 'toolherd auth guarded',
    });
    expect(await post(authorizations, spec)).toBe(200);
    const { url, done } = await waiting(authorizations.authorize(spec));
    expect(new URL(url).searchParams.get('scope')).toBe('basic write');
    await approve(url);
    await done;
    expect(await post(authorizations, spec, 'tools/call')).toBe(200);
  });

  it('that was requested and did not help is not requested again', async () => {
    const guarded = await startProtected({ callScope: 'never', redirect: () => undefined });
    const { authorizations } = makeAuthorizations();
    const spec = httpSpec(guarded.url);
    await obtain(authorizations, spec);
    const grants = guarded.asked;
    await failure(post(authorizations, spec, 'tools/call'));
    await obtain(authorizations, spec);
    // the server asks for more, for any granted scope
    const refusal = { 'www-authenticate': 'Bearer error="insufficient_scope", scope="never"' };
    const send = authorizations.layer(spec)!(
      async () => new Response('no', { status: 403, headers: refusal }),
    );
    expect(await failure(send(spec.url))).toMatchObject({
      type: 'AuthRequiredError',
      message: 'guarded: refuses what it was authorised for',
      fix: expect.stringContaining('check what your account may do there'),
    });
    expect(await authorizations.authorize(spec)).toEqual({ state: 'authorized' });
    expect(grants.filter((line) => line === 'GET /authorize')).toHaveLength(2);
  });
});

describe('the answer of a browser', () => {
  it('an answer with another state is refused and ends nothing; the right one is accepted once', async () => {
    const guarded = await startProtected();
    const { authorizations } = makeAuthorizations();
    const { url, done } = await waiting(authorizations.authorize(httpSpec(guarded.url)));
    const redirect = (await fetch(url, { redirect: 'manual' })).headers.get('location') ?? '';
    const forged = new URL(redirect);
    forged.searchParams.set('state', '<script>alert(1)</script>');
    const refused = await fetch(forged);
    expect([refused.status, await refused.text()]).toEqual([400, expect.not.stringContaining('script')]);
    forged.searchParams.delete('state');
    expect((await fetch(forged)).status).toBe(400);
    expect((await fetch(new URL('/', redirect))).status).toBe(404);
    expect((await fetch(redirect, { method: 'POST' })).status).toBe(404);
    const both = await Promise.allSettled([fetch(redirect), fetch(redirect)]);
    const statuses = both.map((one) => (one.status === 'fulfilled' ? one.value.status : 0));
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    await done;
    await expect(fetch(redirect)).rejects.toThrow();
    expect(guarded.count('grant authorization_code')).toBe(1);
  });

  it('that does not come in five minutes ends the attempt', async () => {
    const guarded = await startProtected();
    const timers = new FakeClock();
    const { authorizations } = makeAuthorizations(undefined, timers);
    const { url, done } = await waiting(authorizations.authorize(httpSpec(guarded.url)));
    timers.advance(5 * 60_000 - 1);
    expect((await waiting(authorizations.authorize(httpSpec(guarded.url)))).url).toBe(url);
    timers.advance(1);
    expect(await failure(done)).toMatchObject({
      type: 'MCPTimeoutError',
      message: 'guarded: it was not authorised within 5 minutes',
    });
    await expect(approve(url)).rejects.toThrow();
    expect(timers.pending).toBe(0);
  });

  it('an answer from another issuer is refused before its code is used', async () => {
    const guarded = await startProtected({
      redirect: (to) => to.searchParams.set('iss', 'https://evil.example'),
    });
    const { authorizations } = makeAuthorizations();
    const { url, done } = await waiting(authorizations.authorize(httpSpec(guarded.url)));
    expect((await approve(url)).status).toBe(400);
    expect(await failure(done)).toMatchObject({
      type: 'AuthRequiredError',
      why: 'the answer came from another authorization server (RFC 9207)',
    });
    expect(guarded.count('POST /token')).toBe(0);
  });

  it('that refuses shows its plain error code, and nothing else', async () => {
    const guarded = await startProtected({
      redirect: (to) => {
        to.searchParams.delete('code');
        to.searchParams.set('error', 'access_denied');
        to.searchParams.set('error_description', 'CANARY');
      },
    });
    const { authorizations } = makeAuthorizations();
    const { url, done } = await waiting(authorizations.authorize(httpSpec(guarded.url)));
    const page = await approve(url);
    expect(await page.text()).not.toContain('CANARY');
    expect(await failure(done)).toMatchObject({
      message: 'guarded: was not authorised',
      why: 'the answer was access_denied',
    });
  });
});

describe('an authorization server', () => {
  it('a server that has no TLS gets no request', async () => {
    const guarded = await startProtected({ metadata: { token_endpoint: 'http://tokens.example/token' } });
    const { authorizations } = makeAuthorizations();
    const { url, done } = await waiting(authorizations.authorize(httpSpec(guarded.url)));
    await approve(url);
    expect(await failure(done)).toMatchObject({
      type: 'AuthRequiredError',
      why: expect.stringContaining('https'),
    });
  });

  it('cannot send a browser to anything but a web page', async () => {
    const guarded = await startProtected({ metadata: { authorization_endpoint: 'file:///etc/passwd' } });
    const { authorizations } = makeAuthorizations();
    const error = await failure(authorizations.authorize(httpSpec(guarded.url)));
    expect(error).toMatchObject({ type: 'AuthRequiredError' });
  });

  it('cannot pass secrets on: its token endpoint is not followed to another origin', async () => {
    let arrived = 0;
    const thief = await listen((_, response) => {
      arrived += 1;
      response.end('{}');
    });
    const guarded = await startProtected({
      token: (_, response) => {
        response.writeHead(307, { location: thief }).end();
        return true;
      },
    });
    const { authorizations } = makeAuthorizations();
    const { url, done } = await waiting(authorizations.authorize(httpSpec(guarded.url)));
    await approve(url);
    expect(await failure(done)).toMatchObject({ type: 'AuthRequiredError' });
    expect(arrived).toBe(0);
  });
});

it('a server that only other nodes run is authorised there', async () => {
  const { authorizations } = makeAuthorizations();
  const cluster = { identity: 'id', balanced: true, isPlacedHere: false };
  const spec = { ...httpSpec('http://unused.example'), transport: 'cluster', name: 'gpu', cluster } as const;
  expect(await failure(authorizations.authorize(spec))).toMatchObject({
    type: 'AuthRequiredError',
    fix: 'on each of these nodes: toolherd auth gpu; "toolherd cluster status" lists them',
  });
});

it('a server with an Authorization header in its config is never authorised in another way', async () => {
  const guarded = await startProtected();
  const { authorizations } = makeAuthorizations();
  const spec = httpSpec(guarded.url, { headers: { authorization: 'Bearer CANARY' } });
  for (const attempt of [post(authorizations, spec), authorizations.authorize(spec)]) {
    const { type, message, why, fix } = await failure(attempt);
    expect(type).toBe('AuthRequiredError');
    expect(fix).toContain("'headers.authorization' (config.yaml:1)");
    expect(`${message} ${why} ${fix}`).not.toContain('CANARY');
  }
  expect(guarded.asked).toEqual([]);
});
