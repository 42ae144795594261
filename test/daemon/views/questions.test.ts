import { describe, expect, it } from 'vitest';
import { until } from '../../support/until.js';
import { type Agent, shared, startWorld } from './support.js';

const ELICITATION = 'elicitation/create';
const REMEDY = "set 'sharing: per-agent' for questions, or run: toolherd restart questions";

async function startQuestions(fields: Record<string, unknown> = {}) {
  const world = await startWorld([shared('questions', 'questions.mjs', fields)]);
  const agent = () => world.agent().see();
  /** Sends a call that the server does not answer, and returns when the server has it. */
  const hold = async (one: Agent) => {
    one.say({ id: 'held', method: 'tools/call', params: { name: 'questions__wait', arguments: {} } });
    // a server takes its messages in their order
    await one.say1('questions__hello');
  };
  return { ...world, agent, hold };
}

/** Has the server ask during a call of this agent. An agent that is asked answers with its name. */
async function question(caller: Agent, everyone: Record<string, Agent>): Promise<string> {
  const before = Object.values(everyone).map((agent) => agent.heard(ELICITATION).length);
  const params = { message: 'Pay 1000 EUR?', requestedSchema: { type: 'object', properties: {} } };
  let reply: string | undefined;
  void caller.say1('questions__ask', { method: ELICITATION, params }).then((text) => {
    reply = text;
  });
  const answered = new Set<string>();
  return until(() => {
    Object.entries(everyone).forEach(([name, agent], index) => {
      const asked = agent.heard(ELICITATION)[before[index] ?? 0];
      if (asked === undefined || answered.has(name)) return;
      answered.add(name);
      agent.say({ id: asked.id, result: { action: 'accept', content: { name } } });
    });
    return reply;
  });
}

const answerBy = (name: string) => `"content":{"name":"${name}"}`;

describe('a cancelled or timed out call counts as unanswered for questions, until the server has answered it:', () => {
  const WAYS: [string, (a: Agent) => Promise<unknown>][] = [
    [
      'cancelled',
      async (a) => {
        a.say({ method: 'notifications/cancelled', params: { requestId: 'held' } });
        await a.settle();
      },
    ],
    ['its connection closed', async (a) => a.close()],
  ];

  it.each(WAYS)('%s: a question is refused, and the other agent is not asked', async (_, leave) => {
    const { agent, hold, status } = await startQuestions();
    const [a, b] = [await agent(), await agent()];
    await hold(a);
    await leave(a);
    await until(async () => (await status('questions')).in_flight === 0);
    expect(await question(b, { b })).toContain(REMEDY);
    expect(b.heard(ELICITATION)).toEqual([]);
    // the server answers the call that was given up
    await b.say1('questions__answer');
    expect(await question(b, { b })).toContain(answerBy('b'));
  });

  it('timed out: a question is refused, until the server was restarted', async () => {
    const { agent, status } = await startQuestions();
    const [a, b] = [await agent(), await agent()];
    await a.say1('questions__hello');
    const call = { server: 'questions', tool: 'wait', timeout_ms: 50 };
    const { result } = await a.ask('call', 'fleet/call', call);
    expect(result?.error).toMatchObject({ type: 'MCPTimeoutError', sent: true });
    await until(async () => (await status('questions')).in_flight === 0);
    expect(await question(b, { a, b })).toContain(REMEDY);
    await b.ask('restart', 'fleet/restart', { servers: ['questions'], wait: true });
    expect(await question(b, { a, b })).toContain(answerBy('b'));
    expect(a.heard(ELICITATION)).toEqual([]);
  });

  it('the agent that cancelled it is asked in its next call, if no other agent has one', async () => {
    const { agent, hold } = await startQuestions();
    const [a, b] = [await agent(), await agent()];
    await hold(a);
    a.say({ method: 'notifications/cancelled', params: { requestId: 'held' } });
    expect(await question(a, { a, b })).toContain(answerBy('a'));
    expect(b.heard(ELICITATION)).toEqual([]);
  });

  it('a question without a call in flight is refused', async () => {
    const { agent, hold, fleet } = await startQuestions();
    const a = await agent();
    await hold(a);
    a.say({ method: 'notifications/cancelled', params: { requestId: 'held' } });
    await a.say1('questions__later', { method: ELICITATION, params: {} });
    const told = await until(async () => {
      const entries = await fleet.logs({ server: 'questions' });
      return entries.map(({ text }) => text).find((text) => text.startsWith('told '));
    });
    expect(told).toContain('no call is in flight');
    expect(a.heard(ELICITATION)).toEqual([]);
  });

  it('the process of another agent is not affected with sharing: per-agent', async () => {
    const { agent, hold } = await startQuestions({ sharing: 'per-agent' });
    const [a, b] = [await agent(), await agent()];
    await hold(a);
    a.say({ method: 'notifications/cancelled', params: { requestId: 'held' } });
    await a.settle();
    expect(await question(b, { a, b })).toContain(answerBy('b'));
    expect(await question(a, { a, b })).toContain(answerBy('a'));
  });
});
