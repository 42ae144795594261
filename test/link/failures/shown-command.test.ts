import { describe, expect, it } from 'vitest';
import { redactingArguments, shownCommand } from '../../../src/link/failures/shown-command.js';
import { fastestOf } from '../../support/fastest-of.js';

const shown = (...[command = '', ...args]: string[]) => shownCommand({ command, args }, (text) => text);

describe('the command of a server, as it is shown', () => {
  it('can be pasted into a shell', () => {
    expect(shown('npx', '-y', '@scope/pkg@1', '--flag', 'two words')).toBe(
      "npx -y @scope/pkg@1 --flag 'two words'",
    );
  });

  it.each([
    [['--token', 'canary'], '--token [hidden]'],
    [['--api-key=canary', 'x'], '--api-key=[hidden] x'],
    [['-e', 'API_KEY=canary', 'image'], '-e API_KEY=[hidden] image'],
    [['--header', 'Authorization: Bearer canary'], '--header Authorization: [hidden]'],
    [['--header', 'X-Api-Key: canary and more'], '--header X-Api-Key: [hidden]'],
    [['--header', 'Authorization:canary'], '--header Authorization:[hidden]'],
    [['X-API-Key:canary'], 'X-API-Key:[hidden]'],
    [['-c', 'export A_TOKEN=canary; run'], '-c export A_TOKEN=[hidden] run'],
    [['-c', 'curl -H "authorization: Bearer canary"'], '-c curl -H "authorization: [hidden]"'],
    [['-c', 'echo note: hi; API_KEY=canary node x'], '-c echo note: hi; API_KEY=[hidden] node x'],
    [['-c', 'run --token canary --port 80'], '-c run --token [hidden]'],
    [['--config', '{"apiKey":"canary","n":1}'], '--config {"apiKey":"[hidden]","n":1}'],
    [['--config', '{"a":{"accessKey":"can\\"ary"},"b":2}'], '--config {"a":{"accessKey":"[hidden]"},"b":2}'],
    [['{"json":"{\\"token\\":\\"canary\\"}"}'], '{"json":"{\\"token\\":\\"[hidden]\\"}"}'],
    [['DB_PASS=canary', 'GH_PAT=canary'], 'DB_PASS=[hidden] GH_PAT=[hidden]'],
    [['DATABASE_DSN=canary', '-e', 'KEY=two canary words'], 'DATABASE_DSN=[hidden] -e KEY=[hidden]'],
    [['--pat', 'canary', '--pwd', 'canary'], '--pat [hidden] --pwd [hidden]'],
    [['--api-key', '-canary2'], '--api-key [hidden]'],
    [['Server=db;Pwd=canary;x'], 'Server=db;Pwd=[hidden]'],
    [['postgresql://me:canary@db/x'], 'postgresql://[hidden]@db/x'],
    [['postgresql://me:with/a-slash-canary@db/x'], 'postgresql://[hidden]@db/x'],
    [['postgresql://me:p@canary@db/x'], 'postgresql://[hidden]@db/x'],
    [['https://h/x?anything=canary&canary'], 'https://h/x?anything=[hidden]&[hidden]'],
    [['https://h/s/c4NARYc4NARYc4NARYc4NARYc4NARYc4NARY/mcp'], 'https://h/s/[hidden]/mcp'],
    [['sk-canary-0123456789'], '[hidden]'],
    [['--x=ghp_canary0123456789'], '--x=[hidden]'],
    [['0123456789abcdef0123456789canary'], '[hidden]'],
    [['wJalrXUtnFEMI/K7MDENG/bPxRfiCYcanaryKEY1'], '[hidden]'],
    [['AKIAIOSFODNN7EXAMPLE1'], '[hidden]'],
    [['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-def'], '[hidden]'],
  ])('has none of the secrets in %j', (args, line) => {
    expect(shown('x', ...args)).toBe(`x ${line}`);
  });

  it('has none of the values that were declared', () => {
    const redact = (text: string) => text.replaceAll("o'canary", '[redacted:KEY]');
    expect(shownCommand({ command: "/o'canary/x", args: ["a=o'canary"] }, redact)).toBe(
      '/[redacted:KEY]/x a=[redacted:KEY]',
    );
  });

  it.each([
    '--no-warnings',
    '@modelcontextprotocol/server-sequential-thinking@2026.8.31',
    '/home/me/a',
    '--port=8080',
    'tokenizer',
    '--author=me',
    '--pattern=a',
    'PWD=/home/me',
    'PATH=/bin',
    'compass:1',
    '--passive=yes',
    'npm_config_registry=https://h/a@b',
    'http://auth:8080/mcp',
    '/nix/store/0c4s3zyl3q6c2c3j3h9wq4w1gnr8hfzw-node/bin/node',
    '/home/Me/Projects/ServerNumber1/GoodOne/main.js',
  ])('leaves names, paths and flags as they are: %s', (word) => {
    expect(shown('npx', word, 'x')).toBe(`npx ${word} x`);
  });

  it.each([
    [['--no-auth', 'server.mjs']],
    [['-no-auth', 'server.mjs']],
    [['-c', 'run --no-auth server.mjs']],
  ])('keeps the word after a flag that turns something off: %j', (args) => {
    const line = shown('node', ...args);
    expect(line).toContain('server.mjs');
    expect(line).not.toContain('[hidden]');
  });

  it('is one short line', () => {
    const line = shown('x', 'a\nb', '\u001B[31m', 'y'.repeat(500));
    expect(line).toMatch(/^x 'a b' '' y+…$/);
    expect(line).toHaveLength(161);
  });
  it('is made at once, also of an escape sequence that does not end', () => {
    const word = `\u001B${';?'.repeat(16_384)}`;
    expect(fastestOf(5, () => shown('x', word))).toBeLessThan(200);
  });
});

describe('the output of a server, without what its arguments hide', () => {
  const redacted = (args: string[], text: string) =>
    redactingArguments({ command: 'x', args }, (same) => same)(text);

  it.each([
    [['--session', 'default'], 'using the default session'],
    [['--auth-mode=Browser'], 'Browser opened'],
    [['--token', 'server.mjs'], 'server.mjs listens'],
    [['--auth-config', './conf/auth.local.json'], 'read ./conf/auth.local.json'],
    [['--private-key=/etc/keys/id.pem'], 'read /etc/keys/id.pem'],
    [['https://h/x?mode=readonly'], 'the mode is readonly'],
    [['--no-auth', 'server.mjs'], 'server.mjs listens'],
  ])('keeps plain words and names of files after a secret-looking name: %j', (args, text) => {
    expect(redacted(args, text)).toBe(text);
  });

  it.each([
    [['--token', 'c4nary'], 'got c4nary'],
    [['--token', 'two-canaries'], 'got two-canaries'],
    [['--api-key', 'canarycanarycanary'], 'got canarycanarycanary'],
    [['--token', 'CANARY'], 'got CANARY'],
    [['--token', 'ghp_canary0123456789.json'], 'got ghp_canary0123456789.json'],
    [['--token=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.canary'], 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.canary'],
    [['--password', 'canary'], 'login with canary'],
    [['--db-pass=canary'], 'login with canary'],
    [['-c', 'run --pwd canary'], 'login with canary'],
    [['postgres://me:canary@db/x'], 'login with canary'],
    [['Server=db;Pwd=canary;x'], 'login with canary;x'],
  ])('has no token, and no password, which may be a plain word: %j', (args, text) => {
    expect(redacted(args, text)).toContain('[hidden]');
    expect(redacted(args, text)).not.toMatch(/canar|c4nary/i);
  });
});
