import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { errorOf } from '../support.js';
import { startProtected } from './oauth-server.js';
import { httpSpec, makeAuthorizations, obtain, post } from './support.js';

/** Of each kind of value one that is not of its shape; a call then needs a person, and one is asked for. */
const DAMAGES: [what: string, damage: Record<string, unknown>][] = [
  ['no tokens', { tokens: null }],
  ['tokens that are none', { tokens: 'text' }],
  ['a token that fits into no header', { tokens: { access_token: 'a\nb', token_type: 'Bearer' } }],
  ['a token that is a number', { tokens: { access_token: 5, token_type: 'Bearer' } }],
  ['a life that is no number', { tokens: { access_token: 'a', token_type: 'Bearer', expires_in: [] } }],
  ['a place that is no address', { discovery: { authorizationServerUrl: 'nowhere' }, tokens: undefined }],
  ['no place', { discovery: null, tokens: undefined }],
  ['a client without a name', { client: {}, given: { id: 5 }, tokens: undefined }],
  [
    'a secret that cannot be a text',
    { client: { client_id: 'a', client_secret: { toString: 1, length: 9 } }, tokens: null },
  ],
];

it.each(DAMAGES)(
  'a record with %s is done without: its server asks for an authorisation',
  async (_, damage) => {
    const guarded = await startProtected();
    const { authorizations, file, folder } = makeAuthorizations();
    const spec = httpSpec(guarded.url);
    await obtain(authorizations, spec);
    const kept = JSON.parse(readFileSync(file, 'utf8'));
    for (const key of Object.keys(kept.servers)) kept.servers[key] = { ...kept.servers[key], ...damage };
    writeFileSync(file, JSON.stringify(kept));
    const next = makeAuthorizations(folder).authorizations;
    expect(await errorOf(post(next, spec))).toMatchObject({ type: 'AuthRequiredError' });
    expect(next.redact('a text')).toBe('a text');
    await obtain(next, spec);
    expect(await post(next, spec)).toBe(200);
  },
);
