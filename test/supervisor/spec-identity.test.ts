import { describe, expect, test } from 'vitest';
import type { HttpSpec } from '../../src/config/schema/spec.js';
import { identityOf, redactedSpec } from '../../src/supervisor/spec-identity.js';
import { spec } from './world.js';

const redact = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll('hunter2', '[PASSWORD]')) as T;

describe('a spec as it is shown', () => {
  test('X1: names of env stay, no value does; known secrets are taken out wherever they stand', () => {
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

  test('X1: nor does a secret that stands in the arguments or the url in the clear', () => {
    const stdio = redactedSpec(spec({ args: ['--config', '{"apiKey":"canary1"}'] }), redact);
    expect(stdio.args).toEqual(['--config', '{"apiKey":"[hidden]"}']);
    const remote = { ...spec(), transport: 'http', url: 'https://h/x?key=canary1', headers: {} };
    const shown = redactedSpec(remote as unknown as HttpSpec, redact);
    expect(shown.url).toBe('https://h/x?key=[hidden]');
  });

  test('X1: the same for headers', () => {
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

describe('what makes a server the same server', () => {
  test('its name and all it would be started with', () => {
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

  test('not where it stands', () => {
    const moved = spec({ origin: { scope: 'global', file: 'other.yaml', line: 9, column: 9 } });
    expect(identityOf(moved)).toBe(identityOf(spec()));
  });
});
