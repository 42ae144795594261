import { describe, expect, it } from 'vitest';
import { SecretExtractor } from '../../src/integrations/extract-secrets.js';

const extract = (entry: Record<string, unknown>) =>
  new SecretExtractor().extract({ name: 'my server', ...entry });

describe('a secret in plain text', () => {
  it('a secret in the environment becomes the variable of its name', () => {
    const { entry, secrets } = extract({ env: { API_TOKEN: 'abc123', DEBUG: '1', AUTH_ENABLED: 'true' } });
    expect(entry.env).toEqual({ API_TOKEN: '${API_TOKEN}', DEBUG: '1', AUTH_ENABLED: 'true' });
    expect(secrets).toEqual([{ variable: 'API_TOKEN', at: 'env.API_TOKEN' }]);
  });

  it('a secret in a header keeps its scheme', () => {
    const headers = { Authorization: 'Bearer abc123', 'X-API-Key': 'k1234567', Accept: 'text/plain' };
    expect(extract({ headers }).entry.headers).toEqual({
      Authorization: 'Bearer ${MY_SERVER_TOKEN}',
      'X-API-Key': '${MY_SERVER_X_API_KEY}',
      Accept: 'text/plain',
    });
  });

  it('a secret in an argument is found by its flag or its prefix', () => {
    const args = [
      '--api-key',
      'k1',
      '--token=t1',
      '-e',
      'DB_PASSWORD=p1',
      '--port',
      '80',
      'ghp_0123456789ab',
    ];
    expect(extract({ args }).entry.args).toEqual([
      '--api-key',
      '${MY_SERVER_API_KEY}',
      '--token=${MY_SERVER_TOKEN}',
      '-e',
      'DB_PASSWORD=${DB_PASSWORD}',
      '--port',
      '80',
      '${MY_SERVER_TOKEN_2}',
    ]);
  });

  it('a secret in a url is a password or a parameter', () => {
    expect(extract({ url: 'https://me:pw@x.example/mcp?api_key=k1&v=2' }).entry.url).toBe(
      'https://me:${MY_SERVER_PASSWORD}@x.example/mcp?api_key=${MY_SERVER_API_KEY}&v=2',
    );
  });

  it('a secret in a connection string is its password, at any position', () => {
    const url = 'postgres://me:pw@db.example/x';
    const safe = 'postgres://me:${MY_SERVER_PASSWORD}@db.example/x';
    expect(extract({ env: { DATABASE: url }, args: [url, `--db=${url}`] }).entry).toMatchObject({
      env: { DATABASE: safe },
      args: [safe, `--db=${safe}`],
    });
  });

  it('a secret in a header among the arguments, as mcp-remote takes them, is found', () => {
    const args = ['mcp-remote', 'https://x.example/sse', '--header', 'Authorization: Bearer abc123'];
    expect(extract({ args: [...args, '--header=X-Api-Key:k1'] }).entry.args).toEqual([
      ...args.slice(0, 3),
      'Authorization: Bearer ${MY_SERVER_TOKEN}',
      '--header=X-Api-Key:${MY_SERVER_X_API_KEY}',
    ]);
  });

  it('a secret inside a longer text replaces the whole text', () => {
    const env = {
      OPENAPI_MCP_HEADERS: '{"Authorization": "Bearer ntn_abc123", "Notion-Version": "2022"}',
      DSN: 'host=db password=s3cret99',
      HEADERS: '{"Authorization": "Bearer ${T}"}',
    };
    expect(extract({ env, args: ['Server=db;Password=s3cret99;'] }).entry).toMatchObject({
      env: { OPENAPI_MCP_HEADERS: '${OPENAPI_MCP_HEADERS}', DSN: '${DSN}', HEADERS: env.HEADERS },
      args: ['Server=${MY_SERVER_SERVER}'],
    });
  });

  it('is a bearer token in any header, and a token as user name of a url', () => {
    expect(extract({ headers: { 'X-Custom': 'Bearer abc123' } }).entry.headers).toEqual({
      'X-Custom': 'Bearer ${MY_SERVER_TOKEN}',
    });
    expect(extract({ args: ['git+https://ghp_0123456789ab@git.example/x'] }).entry.args).toEqual([
      'git+https://${MY_SERVER_TOKEN}@git.example/x',
    ]);
  });

  it('is found by common short names; PWD is a folder', () => {
    const env = { GITHUB_PAT: 'abc123', DB_PASS: 'abc123', DB_PWD: 'abc123', PWD: '/here', BYPASS: 'some' };
    expect(extract({ env }).secrets.map(({ variable }) => variable)).toEqual([
      'GITHUB_PAT',
      'DB_PASS',
      'DB_PWD',
    ]);
  });

  it('is not used as the name of the server', () => {
    const { entry } = extract({ server: 'k1234567', args: ['--api-key', 'k1234567', 'pkg'] });
    expect(JSON.stringify(entry)).not.toContain('k1234567');
  });

  it('a secret in the config of a server is found', () => {
    const config = {
      nested: { api_key: 'k1', level: 3 },
      allowed_directories: ['/x'],
      keys: [{ token: 't1' }],
    };
    expect(extract({ config }).entry.config).toEqual({
      nested: { api_key: '${API_KEY}', level: 3 },
      allowed_directories: ['/x'],
      keys: [{ token: '${TOKEN}' }],
    });
  });

  it('is not a value whose name only describes a secret', () => {
    const entry = {
      args: ['--no-auth', 'server', '--auth-mode', 'none2', '--token-file=/x'],
      env: { AUTH_URL: 'x' },
    };
    expect(extract(entry)).toEqual({ entry: { name: 'my server', ...entry }, secrets: [] });
  });

  it('a value that is a variable already stays', () => {
    const entry = {
      env: { TOKEN: '${TOKEN}' },
      headers: { Authorization: 'Bearer ${T}' },
      args: ['--key', '${K}'],
    };
    expect(extract(entry)).toEqual({ entry: { name: 'my server', ...entry }, secrets: [] });
  });

  it('the second of two servers with one name for different values gets another name', () => {
    const extractor = new SecretExtractor();
    const variable = (name: string, value: string) =>
      extractor.extract({ name, env: { TOKEN: value } }).secrets[0]?.variable;
    expect([variable('a', '1aaaaa'), variable('b', '2bbbbb'), variable('c', '1aaaaa')]).toEqual([
      'TOKEN',
      'B_TOKEN',
      'TOKEN',
    ]);
  });
});
