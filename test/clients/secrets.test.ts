import { describe, expect, it } from 'vitest';
import { SecretTaker } from '../../src/clients/secrets.js';

const take = (entry: Record<string, unknown>) => new SecretTaker().take({ name: 'my server', ...entry });

describe('a secret in the clear', () => {
  it('in the environment becomes the variable of its name', () => {
    const { entry, secrets } = take({ env: { API_TOKEN: 'abc123', DEBUG: '1', AUTH_ENABLED: 'true' } });
    expect(entry.env).toEqual({ API_TOKEN: '${API_TOKEN}', DEBUG: '1', AUTH_ENABLED: 'true' });
    expect(secrets).toEqual([{ variable: 'API_TOKEN', at: 'env.API_TOKEN' }]);
  });

  it('in a header keeps its scheme', () => {
    const headers = { Authorization: 'Bearer abc123', 'X-API-Key': 'k1234567', Accept: 'text/plain' };
    expect(take({ headers }).entry.headers).toEqual({
      Authorization: 'Bearer ${MY_SERVER_TOKEN}',
      'X-API-Key': '${MY_SERVER_X_API_KEY}',
      Accept: 'text/plain',
    });
  });

  it('in an argument is known by its flag, or by how it begins', () => {
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
    expect(take({ args }).entry.args).toEqual([
      '--api-key',
      '${MY_SERVER_API_KEY}',
      '--token=${MY_SERVER_TOKEN}',
      '-e',
      'DB_PASSWORD=${DB_PASSWORD}',
      '--port',
      '80',
      '${MY_SERVER_MY_SERVER_TOKEN}',
    ]);
  });

  it('in a url is a password or a parameter', () => {
    expect(take({ url: 'https://me:pw@x.example/mcp?api_key=k1&v=2' }).entry.url).toBe(
      'https://me:${MY_SERVER_PASSWORD}@x.example/mcp?api_key=${MY_SERVER_API_KEY}&v=2',
    );
  });

  it('in a connection string is its password, wherever that stands', () => {
    const url = 'postgres://me:pw@db.example/x';
    const safe = 'postgres://me:${MY_SERVER_PASSWORD}@db.example/x';
    expect(take({ env: { DATABASE: url }, args: [url, `--db=${url}`] }).entry).toMatchObject({
      env: { DATABASE: safe },
      args: [safe, `--db=${safe}`],
    });
  });

  it('in what a server is given to read', () => {
    const config = { nested: { api_key: 'k1', level: 3 }, allowed_directories: ['/x'] };
    expect(take({ config }).entry.config).toEqual({
      nested: { api_key: '${API_KEY}', level: 3 },
      allowed_directories: ['/x'],
    });
  });

  it('is not what merely speaks of one', () => {
    const entry = {
      args: ['--no-auth', 'server', '--auth-mode', 'none2', '--token-file=/x'],
      env: { AUTH_URL: 'x' },
    };
    expect(take(entry)).toEqual({ entry: { name: 'my server', ...entry }, secrets: [] });
  });

  it('what was a variable already is left alone', () => {
    const entry = {
      env: { TOKEN: '${TOKEN}' },
      headers: { Authorization: 'Bearer ${T}' },
      args: ['--key', '${K}'],
    };
    expect(take(entry)).toEqual({ entry: { name: 'my server', ...entry }, secrets: [] });
  });

  it('of two servers with one name for different values, the second gets a name of its own', () => {
    const taker = new SecretTaker();
    const variable = (name: string, value: string) =>
      taker.take({ name, env: { TOKEN: value } }).secrets[0]?.variable;
    expect([variable('a', '1aaaaa'), variable('b', '2bbbbb'), variable('c', '1aaaaa')]).toEqual([
      'TOKEN',
      'B_TOKEN',
      'TOKEN',
    ]);
  });
});
