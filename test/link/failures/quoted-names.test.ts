import { expect, it } from 'vitest';
import { tokenRefused } from '../../../src/link/auth/errors.js';
import { unavailable } from '../../../src/link/calls/refusals.js';
import { badHandshake, failureOf } from '../../../src/link/failures/remote-endings.js';

const name = 'a b; reboot';
const server = { name, url: 'https://example.com/mcp' };

it.each([
  failureOf(server, { kind: 'cut', code: undefined }, true),
  badHandshake(server, 'no reply'),
  unavailable(name),
  tokenRefused(name),
])("A fix quotes the server's name as one shell word: $fix", ({ fix }) => {
  expect(fix).toMatch(/toolherd \w+ 'a b; reboot'/);
});
