// isolated: counts what the whole process calls on JSON
import { afterEach, describe, expect, it, vi } from 'vitest';
import { harness } from './harness.js';

const LONG = `[${'{},'.repeat(3 * 2 ** 20)}{}]`;
const bytes = (text: string) => Buffer.from(`{"jsonrpc":"2.0",${text}}`);

afterEach(() => void vi.restoreAllMocks());

/** In small objects a message takes fifty times its bytes, and blocks the daemon for seconds. */
describe('a message of more than 8 MiB that is no result of a call', () => {
  it.each([
    ['a notification', `"method":"notifications/message","params":{"data":${LONG}}`],
    ['a question', `"id":"a","method":"sampling/createMessage","params":{"x":${LONG}}`],
    ['a reply to no call', `"id":7,"result":{"x":${LONG}}`],
  ])('%s is not parsed, and counted', (_, text) => {
    const { session, others } = harness();
    const message = bytes(text);
    const parse = vi.spyOn(JSON, 'parse');
    session.deliver(message);
    expect(parse).not.toHaveBeenCalled();
    expect(others).toEqual([]);
    expect(session.strays).toMatchObject({ oversized: 1 });
  });

  it('an error ends its call, unparsed', () => {
    const { session, send, requests } = harness();
    const { outcomes } = send();
    const message = bytes(`"id":${requests()[0]?.id},"error":{"code":1,"message":"no","data":${LONG}}`);
    const parse = vi.spyOn(JSON, 'parse');
    session.deliver(message);
    expect(parse).not.toHaveBeenCalled();
    expect(outcomes).toMatchObject([{ ok: false, error: { type: 'ResultTooLargeError', sent: true } }]);
  });

  it('the result of a call is unchanged', () => {
    const { session, send, requests } = harness();
    const { outcomes } = send();
    session.deliver(bytes(`"id":${requests()[0]?.id},"result":{"text":"${'x'.repeat(9 * 2 ** 20)}"}`));
    expect(outcomes).toMatchObject([{ ok: true }]);
  });
});
