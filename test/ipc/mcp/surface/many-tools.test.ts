import { describe, expect, it } from 'vitest';
import { config, server } from '../../../faults/config.js';
import { startHerd } from '../../../support/herd.js';
import { share } from '../../../support/share.js';
import { AGENTS, textOf } from './clients.js';

const SERVERS = Array.from({ length: 12 }, (_, seed) =>
  server(`shop${seed}`, 'many-tools.mjs', { args: [String(seed)], start: 'lazy' }),
);
const tokens = (value: unknown) => Math.ceil(JSON.stringify(value).length / 4);

describe('a herd with 540 tools of twelve servers', () => {
  const herd = share(async () => {
    const { home, fleet } = await startHerd(config(SERVERS));
    return { home, tools: (await fleet.tools()).tools };
  });

  it.each(AGENTS)(
    'is searched by a client of %s, which reads at most 1,000 tokens before',
    async (_, attach) => {
      expect(herd().tools).toHaveLength(540);
      const agent = await attach(herd().home);
      const listed = await agent.tools();
      expect(listed.map(({ name }) => name)).toEqual([
        'search_tools',
        'describe_tools',
        'call_tool',
        'read_result',
      ]);
      expect(tokens(listed) + tokens(agent.instructions() ?? '')).toBeLessThanOrEqual(1000);
      expect(
        tokens(herd().tools.map(({ input_schema, description }) => [input_schema, description])),
      ).toBeGreaterThan(50_000);
    },
  );

  it.each(AGENTS)(
    'has a client of %s find tools of every server by what they do, and call them',
    async (_, attach) => {
      const agent = await attach(herd().home);
      // one of each server, and all verbs in turn
      const wanted = SERVERS.map(
        ({ name }, at) => herd().tools.filter((tool) => tool.server === name)[(at * 4) % 45]!,
      );
      for (const { name, exposed_name } of wanted) {
        const [verb, noun = ''] = name.split('_');
        const found = textOf(await agent.call('search_tools', { query: `please ${verb} the ${noun}` }));
        expect(found.split('(')[0]).toBe(exposed_name);
        const args = { [`${noun}_id`]: 'naïve ☃' };
        const called = await agent.call('call_tool', { name: exposed_name, arguments: args });
        expect(JSON.parse(textOf(called))).toEqual({ tool: name, arguments: args });
      }
      const described = textOf(
        await agent.call('describe_tools', { names: wanted.map(({ exposed_name }) => exposed_name) }),
      );
      expect(described.split('\n').map((line) => JSON.parse(line).inputSchema)).toEqual(
        wanted.map(({ input_schema }) => input_schema),
      );
    },
  );
});
