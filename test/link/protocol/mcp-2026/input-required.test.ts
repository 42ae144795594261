import { describe, expect, it } from 'vitest';
import type { CallHandle } from '../../../../src/link/calls/call.js';
import type { Ask, Outcome } from '../../../../src/shared/call-sink.js';
import type { JsonObject } from '../../../../src/shared/json.js';
import { deferred, openLink, specOf, textOf } from '../../support.js';

function openModernLink(changes = {}) {
  const { link, opened } = openLink(specOf('modern.mjs', changes));
  const call = (name: string, args: JsonObject, ask?: Ask) => {
    const settled = deferred<Outcome>();
    const params = { name, arguments: args };
    const handle = link.session.send({ method: 'tools/call', params }, { settle: settled.resolve, ask });
    return { handle: handle as CallHandle, outcome: settled.promise };
  };
  const say = async (...args: Parameters<typeof call>) => {
    const outcome = await call(...args).outcome;
    return outcome.ok ? textOf(outcome.result) : outcome.error;
  };
  return { link, opened, call, say };
}

const yes = { action: 'accept', content: { yes: true } };

describe('an input_required result of an MCP 2026 server', () => {
  it('is answered by the agent that made the call, and the call continues with the answer and its state', async () => {
    const { say } = openModernLink();
    const asked: unknown[] = [];
    const ask: Ask = async (method, params) => {
      asked.push([method, params?.message]);
      return yes;
    };
    expect(await say('confirm', { rounds: 3 }, ask)).toBe('round 3: {"yes":true}');
    expect(asked).toEqual(Array(3).fill(['elicitation/create', 'are you sure?']));
  });

  it('is answered all at once: sampling by the agent, roots from the config', async () => {
    const roots = [{ uri: 'file:///work', name: 'work' }];
    const { say } = openModernLink({ roots });
    const thought = { role: 'assistant', content: { type: 'text', text: 'hm' }, model: 'm' };
    const ask: Ask = async () => thought;
    expect(JSON.parse(String(await say('ponder', {}, ask)))).toEqual({ thought, roots: { roots } });
  });

  it('is answered ten times at most', async () => {
    const { say } = openModernLink();
    let times = 0;
    const ask: Ask = async () => {
      times += 1;
      return yes;
    };
    expect(await say('confirm', { rounds: 10 }, ask)).toContain('round 10');
    times = 0;
    expect(await say('confirm', { rounds: 11 }, ask)).toMatchObject({
      type: 'MCPProtocolError',
      sent: true,
      message: expect.stringContaining('it asked for more 10 times already'),
    });
    expect(times).toBe(10);
  });

  it('fails the call, with the remedy, where no agent can answer', async () => {
    const { say } = openModernLink();
    expect(await say('confirm', {})).toMatchObject({
      type: 'MCPProtocolError',
      sent: true,
      rpc: { code: -32021 },
      why: expect.stringContaining('elicitation'),
      fix: 'call it from an agent that can answer',
    });
  });

  it('fails the call with the question and why it was not answered', async () => {
    const { say } = openModernLink();
    const ask: Ask = () => Promise.reject(new Error('the person has left'));
    expect(await say('confirm', {}, ask)).toMatchObject({
      type: 'MCPProtocolError',
      message: 'modern: tools/call waits for elicitation/create ("are you sure?"), which was not answered',
      why: 'the person has left',
      fix: 'call it from an agent that can answer',
    });
  });

  it('is withdrawn when the call is cancelled: the agent gets the abort', async () => {
    const { call } = openModernLink();
    const asked = deferred<AbortSignal>();
    const ask: Ask = (_method, _params, signal) => {
      asked.resolve(signal);
      return new Promise(() => {});
    };
    const { handle, outcome } = call('confirm', {}, ask);
    const signal = await asked.promise;
    expect(signal.aborted).toBe(false);
    handle.cancel('never mind');
    expect(await outcome).toMatchObject({ error: { type: 'CancelledError' } });
    expect(signal.aborted).toBe(true);
  });

  it('a server that dies fails the call, and its question is withdrawn (P1)', async () => {
    const { call, link } = openModernLink();
    const asked = deferred<AbortSignal>();
    const ask: Ask = (_method, _params, signal) => {
      asked.resolve(signal);
      return new Promise(() => {});
    };
    const { outcome } = call('confirm', {}, ask);
    const signal = await asked.promise;
    process.kill(Number(link.pids[0]), 'SIGKILL');
    expect(await outcome).toMatchObject({ error: { type: 'ServerCrashedError', sent: true } });
    expect(signal.aborted).toBe(true);
  });
});
