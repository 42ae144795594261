import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/link/session/message.js';
import { settled, spec, World } from './world.js';

const LISTS = { 'prompts/list': [{ name: 'p' }], 'resources/list': [{ uri: 'note://a', name: 'a' }] };

/** A server that answers the one thing it is asked for with this error. */
async function refusing(error: JsonObject) {
  const world = new World();
  world.manners = () => ({ opens: true, lists: LISTS });
  const herd = world.herd({
    redact: (value) => JSON.parse(JSON.stringify(value).replaceAll('hunter2', '***')),
  });
  herd.apply([spec()]);
  await herd.order('start', { all: true }, true);
  const answered = async <T>(asking: Promise<T>) => {
    await settled();
    const { id } = world.newest.written.at(-1)!;
    world.newest.session.deliver(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, error })));
    return asking.then(
      () => undefined,
      (failure: unknown) => failure,
    );
  };
  return { herd, answered };
}

describe('what a server refuses', () => {
  test.each([-32002, -32602])('a resource with %i is one that it has not', async (code) => {
    const { herd, answered } = await refusing({ code, message: 'Resource note://b not found' });
    expect(await answered(herd.resource({ server: 'srv', uri: 'note://b' }))).toMatchObject({
      type: 'MCPResourceNotFoundError',
      why: 'the server said: Resource note://b not found',
      fix: "did you mean 'note://a'?",
      sent: true,
    });
  });

  test('a prompt that lacks an argument leads to the list of prompts, without secrets', async () => {
    const { herd, answered } = await refusing({ code: -32602, message: 'not hunter2: city is missing' });
    const failure = await answered(herd.prompt({ server: 'srv', name: 'p' }));
    expect(failure).toMatchObject({
      type: 'MCPProtocolError',
      message: expect.stringContaining('not ***: city is missing'),
      fix: 'see "toolherd prompts srv"',
      sent: true,
    });
  });

  test('anything else stays what it was', async () => {
    const { herd, answered } = await refusing({ code: -32603, message: 'oh' });
    const asking = herd.resource({ server: 'srv', uri: 'note://b' });
    expect(await answered(asking)).toMatchObject({
      type: 'MCPProtocolError',
      fix: 'see "toolherd logs srv"',
    });
  });
});
