import { expect, test } from 'vitest';
import { serverSettings } from '../../../src/supervisor/server/server-settings.js';
import { spec } from '../world.js';

test('I7: the timeouts of the machine leave the link time for its whole stop sequence', () => {
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
