import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { deferred, errorOf } from '../support.js';
import { approve, listen, startProtected } from './oauth-server.js';
import { httpSpec, makeAuthorizations, obtain, post } from './support.js';

/** A token endpoint whose next answer is held back. */
function gate() {
  let isShut = false;
  const asked = deferred<void>();
  const opened = deferred<void>();
  const token = (_request: unknown, response: ServerResponse): boolean => {
    if (!isShut) return false;
    isShut = false;
    const end = response.end.bind(response);
    response.end = (text: unknown) => {
      asked.resolve();
      void opened.promise.then(() => end(text));
      return response;
    };
    return false;
  };
  const shut = () => {
    isShut = true;
    return { asked: asked.promise, open: opened.resolve };
  };
  return { token, shut };
}

const serversIn = (file: string) => JSON.parse(readFileSync(file, 'utf8')).servers;

it('a logout while the token is being renewed wins', async () => {
  const { shut, token } = gate();
  const guarded = await startProtected({ token });
  const { authorizations, file } = makeAuthorizations();
  const spec = httpSpec(guarded.url);
  await obtain(authorizations, spec);
  guarded.expire();
  const { asked, open } = shut();
  const call = errorOf(post(authorizations, spec));
  await asked;
  expect(authorizations.forget(spec)).toBe(true);
  open();
  expect(await call).toMatchObject({ type: 'AuthRequiredError' });
  expect(serversIn(file)).toEqual({});
});

it('a logout while a code is exchanged leaves no token behind', async () => {
  const { shut, token } = gate();
  const guarded = await startProtected({ token });
  const { authorizations, file, granted } = makeAuthorizations();
  const spec = httpSpec(guarded.url);
  const progress = await authorizations.authorize(spec);
  if (progress.state !== 'waiting') throw new Error('it does not wait');
  const { asked, open } = shut();
  const page = approve(progress.url);
  await asked;
  authorizations.forget(spec);
  open();
  expect((await page).status).toBe(400);
  expect(await errorOf(progress.done)).toMatchObject({ message: 'guarded: the authorisation was given up' });
  expect([serversIn(file), granted]).toEqual([{}, []]);
});

it('an attempt that is cancelled before it has an address leaves no listener and no registration', async () => {
  const guarded = await startProtected();
  const { authorizations } = makeAuthorizations();
  const spec = httpSpec(guarded.url);
  await errorOf(post(authorizations, spec));
  const beginning = errorOf(authorizations.authorize(spec));
  authorizations.close();
  expect(await beginning).toMatchObject({ message: 'guarded: the authorisation was given up' });
  const again = await authorizations.authorize(spec);
  expect(again.state).toBe('waiting');
});

it('an authorization server whose answer does not end is refused', async () => {
  let bytes = 0;
  const origin = await listen((request, response) => {
    if (request.url === '/mcp') {
      response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    const more = () => {
      while (!response.destroyed && bytes < 2 ** 28) {
        bytes += 2 ** 20;
        if (!response.write('x'.repeat(2 ** 20))) break;
      }
    };
    response.on('drain', more);
    more();
  });
  const { authorizations } = makeAuthorizations();
  const error = await errorOf(authorizations.authorize(httpSpec(`${origin}/mcp`)));
  expect(error).toMatchObject({ type: 'AuthRequiredError' });
  expect(bytes).toBeLessThan(2 ** 26);
});
