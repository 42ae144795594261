import { describe, expect, test } from 'vitest';
import type { HttpSpec } from '../../src/config/fields/spec.js';
import { identityOf, redactedSpec } from '../../src/supervisor/spec-identity.js';
import { spec } from './world.js';

const redact = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll('hunter2', '[PASSWORD]')) as T;

describe('a redacted spec', () => {
  test('X1: keeps the names of env without values, and has no known secret anywhere', () => {
    const shown = redactedSpec(
      spec({
        env: { TOKEN: 'abc', URL: 'http://hunter2@host' },
        args: ['--key', 'hunter2'],
        config: { deep: ['hunter2'] },
      }),
      redact,
    );
    expect(shown.env).toEqual({ TOKEN: '[hidden]', URL: '[hidden]' });
    expect(JSON.stringify(shown)).not.toMatch(/hunter2|abc/);
    expect(shown).toMatchObject({ name: 'srv', args: ['--key', '[hidden]'] });
  });

  test('X1: has no secret that is written in the arguments or the url', () => {
    const stdio = redactedSpec(spec({ args: ['--config', '{"apiKey":"canary1"}'] }), redact);
    expect(stdio.args).toEqual(['--config', '{"apiKey":"[hidden]"}']);
    const remote = { ...spec(), transport: 'http', url: 'https://h/x?key=canary1', headers: {} };
    const shown = redactedSpec(remote as unknown as HttpSpec, redact);
    expect(shown.url).toBe('https://h/x?key=[hidden]');
  });

  test('X1: keeps the names of headers without values', () => {
    const remote = {
      ...spec(),
      transport: 'http',
      url: 'https://x',
      headers: { Authorization: 'Bearer abc' },
    };
    const shown = redactedSpec(remote as unknown as HttpSpec, redact);
    expect(shown.headers).toEqual({ Authorization: '[hidden]' });
    expect(redactedSpec(spec(), redact)).not.toHaveProperty('headers');
  });
});

describe('the identity of a server', () => {
  test('depends on its name and every setting of its start', () => {
    const same = identityOf(spec());
    expect(identityOf(spec())).toBe(same);
    for (const changes of [
      { name: 'b' },
      { args: ['x'] },
      { env: { A: '1' } },
      { maxRestarts: 4 },
      { replicas: 2 },
    ]) {
      expect(identityOf(spec(changes)), JSON.stringify(changes)).not.toBe(same);
    }
  });

  test('does not depend on its place in a file', () => {
    const moved = spec({ origin: { scope: 'global', file: 'other.yaml', line: 9, column: 9 } });
    expect(identityOf(moved)).toBe(identityOf(spec()));
  });
});
