import { describe, expect, it } from 'vitest';
import type { CallRequest } from '../../../../src/link/calls/call.js';
import type { Ask, Outcome } from '../../../../src/shared/call-sink.js';
import { deferred, openLink, specOf, textOf } from '../../support.js';

type More = Partial<CallRequest> & { ask?: Ask };

/** A server that sends requests, and calls of named callers. */
function openQuestionLink(
  deps: Parameters<typeof openLink>[1] = {},
  changes: Parameters<typeof specOf>[1] = {},
) {
  const one = openLink(specOf('questions.mjs', changes), deps);
  const send = (name: string, args: Record<string, unknown>, more: More = {}) => {
    const { ask, ...request } = more;
    const outcome = deferred<Outcome>();
    const params = { name, arguments: args };
    const handle = one.link.session.send(
      { method: 'tools/call', params, caller: 'agent', ...request },
      { settle: outcome.resolve, ask },
    );
    return { handle, outcome: outcome.promise };
  };
  /** The answers that the server got. */
  const reply = async (method: string, params?: Record<string, unknown>, more?: More) => {
    const outcome = await send('ask', { method, params }, more).outcome;
    if (!outcome.ok) throw outcome.error;
    return JSON.parse(textOf(outcome.result)) as {
      result?: unknown;
      error?: { code: number; message: string };
    };
  };
  return { ...one, send, reply };
}

const SAMPLING = 'sampling/createMessage';
const ELICITATION = 'elicitation/create';
const params = {
  messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }],
  unheardOf: { deep: 1 },
};

describe('a request of a server', () => {
  it.each([SAMPLING, ELICITATION])(
    '%s is answered by the agent whose call is in flight, unchanged both ways',
    async (method) => {
      const asked: unknown[] = [];
      const { reply } = openQuestionLink();
      const ask: Ask = async (...question) => {
        asked.push(question.slice(0, 2));
        return { action: 'accept', content: { unheardOf: true } };
      };
      expect(await reply(method, params, { ask })).toEqual({
        result: { action: 'accept', content: { unheardOf: true } },
      });
      expect(asked).toEqual([[method, params]]);
    },
  );

  it("an agent's refusal is passed on unchanged; any other exception is an internal error", async () => {
    const { reply } = openQuestionLink();
    const no = Object.assign(new Error('the user said no'), { code: -1, data: { by: 'user' } });
    expect(await reply(SAMPLING, params, { ask: () => Promise.reject(no) })).toEqual({
      error: { code: -1, message: 'the user said no', data: { by: 'user' } },
    });
    for (const thrown of [new Error('oh'), 'oh', null]) {
      const { error } = await reply(SAMPLING, params, { ask: () => Promise.reject(thrown) });
      expect(error?.code).toBe(-32603);
    }
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    expect((await reply(SAMPLING, params, { ask: async () => circle })).error?.code).toBe(-32603);
  });

  it('is refused with the remedy where the agent cannot answer', async () => {
    const { reply } = openQuestionLink();
    const { error } = await reply(SAMPLING, params);
    expect(error).toEqual({
      code: -32000,
      message:
        "toolherd cannot answer sampling/createMessage for questions: the agent whose call is in flight cannot answer it; use an agent that offers 'sampling'",
    });
  });

  it('is refused with the remedy where several agents have calls in flight, and no agent is asked', async () => {
    const { reply, send } = openQuestionLink();
    const ask: Ask = async () => {
      throw new Error('asked');
    };
    send('wait', {}, { caller: 'another', ask });
    const { error } = await reply(ELICITATION, params, { ask });
    expect(error?.code).toBe(-32000);
    expect(error?.message).toContain(
      "2 agents have calls in flight, and nothing tells which of them is meant; set 'sharing: per-agent' for questions",
    );
  });

  it('reaches an agent that has several calls in flight', async () => {
    const { reply, send } = openQuestionLink();
    send('wait', {});
    expect(await reply(ELICITATION, params, { ask: async () => ({ action: 'decline' }) })).toEqual({
      result: { action: 'decline' },
    });
  });

  it('is refused where no call is in flight', async () => {
    const { send, logged } = openQuestionLink();
    await send('later', { method: SAMPLING, params }, { ask: async () => ({}) }).outcome;
    expect(await logged(/^told/)).toContain(
      'no call is in flight, so no agent can be asked; ask during a call',
    );
  });

  it.each([
    [{ sampling: 'deny', elicitation: 'ask-agent' }, SAMPLING, ['elicitation']],
    [{ sampling: 'ask-agent', elicitation: 'deny' }, ELICITATION, ['sampling']],
  ] as const)(
    'is refused, and not offered, where the config denies it: %o',
    async (permissions, method, offered) => {
      const { reply, tool } = openQuestionLink({ permissions });
      const { error } = await reply(method, params, { ask: async () => ({}) });
      expect(error?.message).toMatch(/security\.\w+ is 'deny'; set it to 'ask-agent' in config\.yaml$/);
      expect(Object.keys(JSON.parse(await tool('hello')).capabilities)).toEqual(offered);
    },
  );

  it('suspends the timeout of the call while an agent is asked; the hard limit stays', async () => {
    const { send, reply } = openQuestionLink({}, { requestTimeoutMs: 300, maxTimeoutMs: 2000 });
    const slowly: Ask = () => new Promise((resolve) => setTimeout(() => resolve({ action: 'accept' }), 900));
    expect(await reply(ELICITATION, params, { ask: slowly })).toEqual({ result: { action: 'accept' } });
    const began = performance.now();
    const never = await send('ask', { method: ELICITATION }, { ask: () => new Promise(() => {}) }).outcome;
    expect(never).toMatchObject({ ok: false, error: { type: 'MCPTimeoutError' } });
    expect(performance.now() - began).toBeGreaterThan(1900);
  });

  it('is aborted when its call is cancelled', async () => {
    const { send } = openQuestionLink();
    const asked = deferred<AbortSignal>();
    const ask: Ask = (_method, _params, signal) => {
      asked.resolve(signal);
      return new Promise(() => {});
    };
    const { handle, outcome } = send('ask', { method: ELICITATION }, { ask });
    const signal = await asked.promise;
    expect(signal.aborted).toBe(false);
    handle?.cancel();
    await outcome;
    expect(signal.aborted).toBe(true);
  });

  it('is aborted when the server cancels it, also the one with id 0, and is not answered', async () => {
    const { send, logs, tool } = openQuestionLink();
    const aborted = deferred<void>();
    const ask: Ask = (_method, _params, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          aborted.resolve();
          reject(signal.reason);
        });
      });
    const { handle } = send('abandon', { method: SAMPLING, params }, { ask });
    await aborted.promise;
    await tool('hello');
    expect(logs.filter(({ text }) => text.includes('answered all the same'))).toEqual([]);
    handle?.cancel();
  });

  it('is aborted when the server dies', async () => {
    const { send, link, ended } = openQuestionLink();
    const asked = deferred<AbortSignal>();
    const ask: Ask = (_method, _params, signal) => {
      asked.resolve(signal);
      return new Promise(() => {});
    };
    send('ask', { method: ELICITATION }, { ask });
    const signal = await asked.promise;
    process.kill(link.pids[0] ?? 0, 'SIGKILL');
    await ended;
    expect(signal.aborted).toBe(true);
  });
});
