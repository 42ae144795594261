import { describe, expect, it } from 'vitest';
import { hideInArguments, hideInFile, isToken } from '../../../src/shared/secrets/hide-secrets.js';
import { looksSecret } from '../../../src/shared/secrets/secret-name.js';

describe('a name', () => {
  it.each([
    'DB_PASS',
    'GH_PAT',
    'pat',
    '--pwd',
    'Pwd',
    'DATABASE_DSN',
    'accessKey',
    'X-API-Key',
    'Authorization',
  ])('suggests a secret: %s', (name) => expect(looksSecret(name)).toBe(true));

  it.each([
    'PATH',
    'path',
    'pattern',
    'compass',
    'passive',
    'BYPASS',
    'PWD',
    'OLDPWD',
    'author',
    'keyboard',
    '--no-auth',
    '-no-session',
  ])('suggests none: %s', (name) => expect(looksSecret(name)).toBe(false));
});

describe('the secrets of a command', () => {
  it('are also given, in each form in which a program may repeat them', () => {
    const { values } = hideInArguments([
      '--api-key=canary-1',
      'Authorization: Bearer canary-2',
      'postgres://me:canary%203@db/x',
      '--config={"token":"canary-4"}',
      '--pin-token=short',
    ]);
    expect(values).toEqual(
      expect.arrayContaining(['canary-1', 'canary-2', 'canary%203', 'canary 3', 'canary-4']),
    );
    expect(values).not.toContain('short');
  });
});

describe('the lines of a file', () => {
  const shown = (...lines: string[]) => hideInFile(lines).join('\n');

  it.each([
    'AKIAIOSFODNN7EXAMPLE1',
    'AIzaSyA0123456789',
    'hf_A0123456789',
    'npm_A0123456789',
    'sk_live_0123456789',
    'pk_live_0123456789',
    'ghp_0123456789ab',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-def',
  ])('have no token of a well-known service, and import knows the same ones: %s', (token) => {
    expect(shown(`  - ${token}`)).toBe('  - [hidden]');
    expect(isToken(token)).toBe(true);
  });

  it.each([
    ['  api_key: with, a comma and blanks', '  api_key: [hidden]'],
    ['env: {API_TOKEN: canary, LEVEL: "3"}', 'env: {API_TOKEN: [hidden], LEVEL: "3"}'],
    ['args: [--api-key, canary, x]', 'args: [--api-key, [hidden], x]'],
    ['args: ["--api-key", "canary", "x"]', 'args: ["--api-key", "[hidden]", "x"]'],
    ['  TOKEN: ${TOKEN:-canary}', '  TOKEN: [hidden]'],
  ])('have no value under a telling name: %s', (line, safe) => expect(shown(line)).toBe(safe));

  it('have no value whose flag stands in the line above', () => {
    expect(shown('  - --token', '  - canary', '  - --token', '  - ${T}')).toBe(
      '  - --token\n  - [hidden]\n  - --token\n  - ${T}',
    );
  });

  it.each([
    '  TOKEN: ${TOKEN}',
    '  TOKEN: ${TOKEN:-}',
    '  Authorization: Bearer ${TOKEN}',
    '  url: https://h/x?key=${KEY}',
    '  db: postgres://me:${PASSWORD}@db/x',
    'mcp_servers:',
    '  - name: npm_config_registry',
    'args: [--no-auth, server.mjs]',
    '  - --no-auth\n  - server.mjs',
  ])('keep words that are no secret: %s', (lines) => expect(shown(...lines.split('\n'))).toBe(lines));
});
