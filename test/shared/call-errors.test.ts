import { expect, test } from 'vitest';
import { toErrorObject } from '../../src/ipc/jsonrpc/rpc-error.js';
import { asCallError, MCPTimeoutError } from '../../src/shared/call-errors.js';

test('what a call fails with stays as it is if it is an error of calls', () => {
  const error = new MCPTimeoutError('late');
  const warnings: string[] = [];
  expect(asCallError(error, (text) => void warnings.push(text))).toBe(error);
  expect(warnings).toEqual([]);
});

test.each([new TypeError('private'), 'private', undefined])(
  'a fault of toolherd itself becomes an error of the call, without the text of what was thrown',
  (thrown) => {
    const warnings: string[] = [];
    const error = asCallError(thrown, (text) => void warnings.push(text));
    expect(error).toMatchObject({ type: 'InternalError', sent: false, retryable: false });
    expect(warnings).toEqual([expect.stringMatching(/^a fault in toolherd itself: \w+ at .+$/)]);
    expect(`${error.message} ${warnings}`).not.toContain('private');
    // on the socket it is an error without details, as any bug is
    expect(toErrorObject(error)).toBeUndefined();
  },
);
