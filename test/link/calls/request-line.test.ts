import { describe, expect, it } from 'vitest';
import { cancelLine, requestLine } from '../../../src/link/calls/request-line.js';

const parse = (line: string) => JSON.parse(line);

describe('the line of a request', () => {
  it('holds the params unchanged, or none', () => {
    expect(parse(requestLine(7, 'a/b', { x: [1] }, false))).toEqual({
      jsonrpc: '2.0',
      id: 7,
      method: 'a/b',
      params: { x: [1] },
    });
    expect(parse(requestLine(7, 'a/b', undefined, false))).toEqual({ jsonrpc: '2.0', id: 7, method: 'a/b' });
  });

  it('asks for progress under the id of the call, with or without params and meta', () => {
    expect(parse(requestLine(7, 'm', undefined, true)).params).toEqual({ _meta: { progressToken: 7 } });
    expect(parse(requestLine(7, 'm', { x: 1 }, true)).params).toEqual({ x: 1, _meta: { progressToken: 7 } });
    expect(parse(requestLine(7, 'm', { _meta: { own: 1 } }, true)).params).toEqual({
      _meta: { own: 1, progressToken: 7 },
    });
  });

  it("removes the caller's own progress token, and keeps the rest of its meta", () => {
    expect(parse(requestLine(7, 'm', { _meta: { progressToken: 1, own: 1 } }, false)).params).toEqual({
      _meta: { own: 1 },
    });
    expect(parse(requestLine(7, 'm', { _meta: { own: 1 } }, false)).params).toEqual({ _meta: { own: 1 } });
  });

  it('a cancellation names the call and the reason', () => {
    expect(parse(cancelLine(7, 'why'))).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 7, reason: 'why' },
    });
  });
});
