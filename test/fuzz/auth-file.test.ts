import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { recordKey } from '../../src/link/auth/record.js';
import { ToolherdError } from '../../src/shared/errors.js';
import { httpSpec, makeAuthorizations, post } from '../link/auth/support.js';
import { makeFolder } from '../support/folder.js';
import { mutated } from './mutations.js';
import { livingRuns, PATIENCE_MS } from './runs.js';

/** A server that refuses every client, and names no authorization server. */
async function closedServer(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(request.url === '/mcp' ? 401 : 404, { 'WWW-Authenticate': 'Bearer' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it(
  'L3: a server connects or asks for an authorisation for any content of the token file',
  async () => {
    const origin = await closedServer();
    const spec = httpSpec(`${origin}/mcp`);
    const record = {
      resource: spec.url,
      given: { id: 'me', secret: 'given-secret' },
      client: { client_id: 'me', client_secret: 'client-secret', issuer: origin },
      redirectUrl: 'http://127.0.0.1:1/callback',
      scope: 'read',
      tokens: {
        access_token: 'access-token',
        token_type: 'Bearer',
        refresh_token: 'refresh-token',
        expires_in: 3600,
      },
      obtainedAt: Date.now(),
      discovery: {
        authorizationServerUrl: origin,
        authorizationServerMetadata: {
          issuer: origin,
          token_endpoint: `${origin}/token`,
          authorization_endpoint: `${origin}/authorize`,
          response_types_supported: ['code'],
        },
      },
    };
    const text = JSON.stringify({ version: 1, servers: { [recordKey(spec)]: record } });
    const folder = makeFolder();
    const { file } = makeAuthorizations(folder);
    mkdirSync(dirname(file), { recursive: true });
    const settled = (work: Promise<unknown>) =>
      work.catch((error: unknown) =>
        expect([error, (error as Error).message]).toEqual([expect.any(ToolherdError), expect.any(String)]),
      );
    await fc.assert(
      fc.asyncProperty(mutated([text], 0), async (bytes) => {
        writeFileSync(file, bytes, { mode: 0o600 });
        for (const use of ['call', 'authorize'] as const) {
          const { authorizations } = makeAuthorizations(folder);
          if (use === 'call') await settled(post(authorizations, spec));
          await settled(
            authorizations
              .authorize(spec)
              .then((progress) => progress.state === 'waiting' && void progress.done.catch(() => undefined)),
          );
          expect(authorizations.redact('a text')).toBe('a text');
          authorizations.close();
        }
        const { authorizations } = makeAuthorizations(folder);
        expect(authorizations.forget(spec)).toEqual(expect.any(Boolean));
      }),
      livingRuns(25, 3000),
    );
  },
  PATIENCE_MS,
);
