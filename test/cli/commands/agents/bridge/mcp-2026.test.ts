import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Client, type ClientOptions } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, it, onTestFinished } from 'vitest';
import { command, config, server } from '../../../../faults/config.js';
import { COMMAND } from '../../../../support/command.js';
import { type Home, isAlive, killDaemon, startHerd, until } from '../../../../support/herd.js';

const require = createRequire(import.meta.url);
const EVERYTHING = join(
  dirname(require.resolve('@modelcontextprotocol/server-everything/package.json')),
  'dist',
  'index.js',
);
const HERD = config([
  command('everything', process.execPath, [EVERYTHING]),
  server('good', 'good.mjs'),
  server('questions', 'questions.mjs'),
  server('modern', 'modern.mjs'),
  server('offers', 'offers.mjs'),
  server('watched', 'watched.mjs'),
]);
const PIN = { mode: { pin: '2026-07-28' } };
const UPDATED = 'notifications/resources/updated';

async function attach({ environment, folder }: Home, options: ClientOptions, ...flags: string[]) {
  const client = new Client({ name: 'test', version: '1' }, options);
  const args = [COMMAND, 'bridge', ...flags];
  const transport = new StdioClientTransport({
    ...{ command: process.execPath, args, env: environment, cwd: folder, stderr: 'pipe' as const },
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { client, transport };
}

const textOf = ({ content }: { content: unknown }) => (content as { text: string }[])[0]?.text;
const echo = async (client: Client, value: string) =>
  textOf(await client.callTool({ name: 'good__echo', arguments: { value } }));

describe('toolherd bridge for the official client of 2026-07-28', () => {
  it.each([
    ['pinned to that version', PIN],
    ['with negotiation', { mode: 'auto' as const }],
  ])(
    '%s: it lists, calls, gets progress, and answers questions of servers of both eras',
    async (_, versionNegotiation) => {
      const { home } = await startHerd(HERD);
      const { client } = await attach(home, { versionNegotiation, capabilities: { elicitation: {} } });
      expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
      expect(client.getServerVersion()).toMatchObject({ name: 'toolherd' });
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['good__echo', 'modern__confirm']),
      );
      expect(await echo(client, 'hi')).toBe('hi');
      const steps: number[] = [];
      const slow = {
        name: 'everything__trigger-long-running-operation',
        arguments: { duration: 2, steps: 2 },
      };
      await client.callTool(slow, { onprogress: ({ progress }) => steps.push(progress) });
      // this client drops progress that arrives together with the result: hence two steps
      expect(steps[0]).toBe(1);

      client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { yes: true } }));
      const requestedSchema = { type: 'object', properties: { yes: { type: 'boolean' } } };
      const asked = await client.callTool({
        name: 'questions__ask',
        arguments: { method: 'elicitation/create', params: { message: 'sure?', requestedSchema } },
      });
      expect(JSON.parse(textOf(asked) ?? '')).toEqual({
        result: { action: 'accept', content: { yes: true } },
      });
      const confirmed = await client.callTool({ name: 'modern__confirm', arguments: { rounds: 2 } });
      expect(textOf(confirmed)).toBe('round 2: {"yes":true}');

      const { prompts } = await client.listPrompts();
      expect(prompts.map(({ name }) => name)).toContain('offers__greet');
      const { contents } = await client.readResource({ uri: 'note://one' });
      expect(contents).toHaveLength(1);
      await expect(client.callTool({ name: 'good__nothing', arguments: {} })).rejects.toMatchObject({
        code: -32602,
      });
    },
  );

  it('keeps working after the daemon was killed: the next daemon gets its subscriptions', async () => {
    const { home, daemon, say } = await startHerd(HERD);
    const { client } = await attach(home, { versionNegotiation: PIN });
    const told: string[] = [];
    client.setNotificationHandler(UPDATED, ({ params }) => void told.push(params.uri));
    client.setNotificationHandler('notifications/tools/list_changed', () => void told.push('tools'));
    await client.listTools();
    const { honoredFilter, closed } = await client.listen({
      toolsListChanged: true,
      resourceSubscriptions: ['note://two'],
    });
    expect(honoredFilter).toEqual({ toolsListChanged: true, resourceSubscriptions: ['note://two'] });
    await say('watched', 'touch', { uri: 'note://two' });
    await until(() => told.includes('note://two'));
    told.length = 0;

    const waiting = client
      .callTool({ name: 'good__wait', arguments: {} })
      .catch((error: Error) => error.message);
    await echo(client, 'the call is with the server');
    await killDaemon(home, daemon);
    expect(await waiting).toMatch(/went away while tools\/call was in flight; it may have run/);
    await home.start();
    // without a word of the client
    await until(() => told.includes('tools') && told.includes('note://two'));
    await until(async () => {
      const touched = await client.callTool({ name: 'watched__touch', arguments: { uri: 'note://two' } });
      return textOf(touched) === 'told';
    });
    await until(() => told.filter((uri) => uri === 'note://two').length === 2);
    await expect(Promise.race([closed, echo(client, 'open')])).resolves.toBe('open');
  });

  it('exits with its client, although the client still has a subscription', async () => {
    const { home } = await startHerd(HERD);
    const { client, transport } = await attach(home, { versionNegotiation: PIN });
    await client.listen({ toolsListChanged: true });
    const pid = transport.pid!;
    await client.close();
    await until(() => !isAlive(pid));
  });

  it('--server shows one server with its own names', async () => {
    const { home } = await startHerd(HERD);
    const { client } = await attach(home, { versionNegotiation: PIN }, '--server', 'modern');
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('confirm');
    expect(textOf(await client.callTool({ name: 'echo', arguments: { value: 'own' } }))).toBe('own');
  });
});
