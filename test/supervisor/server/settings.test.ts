import { expect, test } from 'vitest';
import { serverSettings } from '../../../src/supervisor/server/server-settings.js';
import { spec } from '../world.js';

test('I7: what the machine is told of a spec leaves the link its whole ladder', () => {
  const settings = serverSettings(spec({ idleTimeoutMs: 7 }), () => 42);
  expect(settings).toMatchObject({
    name: 'srv',
    // two processes may have to be started, one after the other
    startTimeoutMs: 62_000,
    closeTimeoutMs: 9_000,
    idleTimeoutMs: 7,
  });
  expect(settings.idleForMs()).toBe(42);
});
