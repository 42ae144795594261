import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { StdioSpec } from '../../../src/config/fields/spec.js';
import type { CallContext, OnRequest } from '../../../src/fleet/fleet.js';
import { openStdio } from '../../../src/link/stdio/link.js';
import { ProcessTable } from '../../../src/processes/table.js';
import { systemClock } from '../../../src/shared/clock.js';
import { Herd } from '../../../src/supervisor/herd/herd.js';
import { specOf } from '../../link/spec.js';
import { deferred } from '../../link/support.js';

const require = createRequire(import.meta.url);
const EVERYTHING = join(
  dirname(require.resolve('@modelcontextprotocol/server-everything/package.json')),
  'dist',
  'index.js',
);
const tools = { allow: ['*'], deny: [] };

/** A herd of real processes inside this one, as a program that answers its servers' questions has it. */
function herdOf(...specs: StdioSpec[]) {
  const table = new ProcessTable({ daemonId: `questions-${process.pid}`, clock: systemClock });
  const herd = new Herd({
    clock: systemClock,
    random: Math.random,
    maxStarting: 10,
    listWaitMs: () => 2000,
    log: () => undefined,
    redact: (value) => value,
    redactFor: (_, value) => value,
    open: (spec, incarnation, on) => {
      const clientInfo = { name: 'toolherd', version: '0' };
      const deps = { clock: systemClock, table, env: process.env, incarnation, clientInfo };
      const rest = { log: () => undefined, redact: (text: string) => text };
      return openStdio(spec as StdioSpec, { ...deps, ...rest }, on);
    },
  });
  onTestFinished(async () => {
    await herd.shutdown(5000, () => table.killAll());
  });
  herd.apply(specs);
  const [{ name = '' } = {}] = specs;
  const say = async (tool: string, args: Record<string, unknown> = {}, context: CallContext = {}) => {
    const { content, error } = await herd.view.calls.call({ server: name, tool, arguments: args }, context);
    return error?.message ?? content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
  };
  return { herd, say };
}

const SAMPLING = 'sampling/createMessage';

describe('a question of a server', () => {
  test.each(['singleton', 'transient'] as const)('reaches the caller (%s)', async (lifecycle) => {
    const { say } = herdOf(specOf('questions.mjs', { tools, lifecycle }));
    const onRequest: OnRequest = async (method, params) => ({ method, got: params });
    const reply = await say('ask', { method: SAMPLING, params: { maxTokens: 7 } }, { onRequest });
    expect(JSON.parse(reply)).toEqual({ result: { method: SAMPLING, got: { maxTokens: 7 } } });
  });

  test('is refused while calls of two agents are unanswered, also after one was cancelled', async () => {
    const { herd, say } = herdOf(specOf('questions.mjs', { tools }));
    const asked: string[] = [];
    const agent = (caller: string): CallContext => ({
      caller,
      onRequest: async () => {
        asked.push(caller);
        return {};
      },
    });
    const leaving = new AbortController();
    // the first call has reached the server when a second one was answered
    const waits = herd.view.calls.call(
      { server: 'questions', tool: 'wait' },
      { ...agent('a'), signal: leaving.signal },
    );
    const refused = await say('ask', { method: SAMPLING }, agent('b'));
    expect(refused).toContain("set 'sharing: per-agent' for questions");
    expect(asked).toEqual([]);
    leaving.abort();
    expect((await waits).error?.type).toBe('CancelledError');
    const still = await say('ask', { method: SAMPLING }, agent('b'));
    expect(still).toContain("set 'sharing: per-agent' for questions");
    expect(asked).toEqual([]);
    await say('answer', {}, agent('b'));
    await say('ask', { method: SAMPLING }, agent('b'));
    expect(asked).toEqual(['b']);
  });

  test('is cancelled with its call', async () => {
    const { herd } = herdOf(specOf('questions.mjs', { tools }));
    const asked = deferred<AbortSignal>();
    const onRequest: OnRequest = (_method, _params, signal) => {
      asked.resolve(signal);
      return new Promise(() => {});
    };
    const abort = new AbortController();
    const call = { server: 'questions', tool: 'ask', arguments: { method: SAMPLING } };
    const result = herd.view.calls.call(call, { onRequest, signal: abort.signal });
    const signal = await asked.promise;
    abort.abort();
    expect((await result).error?.type).toBe('CancelledError');
    expect(signal.aborted).toBe(true);
  });

  test('is answered for a real server: sampling and elicitation', async () => {
    const { say } = herdOf(specOf('', { name: 'everything', args: [EVERYTHING], tools }));
    const onRequest: OnRequest = async (method, params) => {
      if (method === SAMPLING) {
        expect(params).toMatchObject({ messages: [{ role: 'user' }] });
        return { role: 'assistant', content: { type: 'text', text: 'sampled!' }, model: 'm' };
      }
      expect(params).toMatchObject({ requestedSchema: { type: 'object' } });
      return { action: 'accept', content: { name: 'Ada', check: true } };
    };
    const sampled = await say('trigger-sampling-request', { prompt: 'hi', maxTokens: 5 }, { onRequest });
    expect(sampled).toContain('sampled!');
    expect(await say('trigger-elicitation-request', {}, { onRequest })).toContain('Ada');
    const answer = await say('trigger-sampling-request', { prompt: 'hi', maxTokens: 5 });
    expect(answer).toContain("use an agent that offers 'sampling'");
  });
});
