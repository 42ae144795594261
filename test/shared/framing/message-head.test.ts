import { expect, it } from 'vitest';
import { headOf } from '../../../src/shared/framing/message-head.js';

it.each([
  ['{"jsonrpc":"2.0","id":1,"result":{}}', { kind: 'reply', id: '1' }],
  ['{"jsonrpc":"2.0","id":"a\\"b,","error":{}}', { kind: 'failure', id: '"a\\"b,"' }],
  ['{"jsonrpc":"2.0","id":"é","method":"m"}', { kind: 'request', id: '"é"' }],
  ['{"jsonrpc":"2.0","method":"m"}', undefined],
  ['{"jsonrpc":"2.0","id":"open', undefined],
])('the head of %s', (line, head) => {
  expect(headOf(Buffer.from(line))).toEqual(head);
});
