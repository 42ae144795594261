import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { config, server } from '../faults/config.js';
import { counts, measured } from '../faults/measured.js';
import { LineClient, textOf } from '../ipc/mcp/support.js';
import { isAlive, startHerd, until } from '../support/herd.js';
import { mutated } from './mutations.js';
import { livingRuns, PATIENCE_MS } from './runs.js';

const LONG = 'x'.repeat(20_000);
const result = (text: string) =>
  `"result":{"content":[{"type":"text","text":"${text}"}],"structuredContent":{"a":[1,{"b":null}]}}`;
const head = '"jsonrpc":"2.0"';

/** What a server may say, of which something is then changed. `@ID@` is the call that makes it speak. */
const SAYINGS = [
  `{${head},"id":@ID@,${result('said')}}`,
  `{${result('said')},${head},"id":@ID@}`,
  `{${head},"id":@ID@,${result(LONG)}}`,
  `{"id":@ID@,${result(LONG)},${head}}`,
  `{${head},"id":@ID@,"error":{"code":-32602,"message":"no","data":{"field":"x"}}}`,
  `{${head},"id":@ID@,"result":{"content":[{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"resource","resource":{"uri":"a://b","text":"t"}},{"type":"resource_link","uri":"a://b","name":"n"},{"type":"odd"}],"isError":true,"_meta":{"a":1}}}`,
  `[{${head},"id":@ID@,${result('batched')}},{${head},"method":"notifications/progress","params":{"progressToken":@ID@,"progress":1}}]`,
  `{${head},"method":"notifications/progress","params":{"progressToken":@ID@,"progress":1,"total":2,"message":"m"}}`,
  `{${head},"method":"notifications/message","params":{"level":"warning","logger":"l","data":{"text":"t"}}}`,
  `{${head},"method":"notifications/tools/list_changed"}`,
  `{${head},"method":"notifications/resources/updated","params":{"uri":"a://b"}}`,
  `{${head},"method":"notifications/cancelled","params":{"requestId":1,"reason":"r"}}`,
  `{${head},"id":7,"method":"ping"}`,
  `{${head},"id":"q","method":"roots/list"}`,
  `{${head},"id":8,"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"t"}}],"maxTokens":5}}`,
  `{${head},"id":9,"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}`,
  'a line that is no message',
];
const ABOUT_OTHERS = [
  `{${head},"id":@HELD@,${result('stolen')}}`,
  `{${head},"id":@HELD@,"id":@ID@,${result(LONG)}}`,
];
const LISTS = [
  `{${head},"id":@ID@,"result":{"tools":[{"name":"say","description":"d","inputSchema":{"type":"object","properties":{"a":{"type":"string","pattern":"^a"}},"required":["a"]},"outputSchema":{"type":"object"},"annotations":{"title":"t","readOnlyHint":true}},{"name":"b","inputSchema":{"type":"object","$ref":"#/$defs/x","$defs":{"x":{}}}}]}}`,
  `{${head},"id":@ID@,"result":{"tools":[{"name":"say","inputSchema":{"type":"object"}}],"nextCursor":"n","ttlMs":5}}`,
];
const GREETINGS = [
  `{${head},"id":@ID@,"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"n","version":"1","title":"t"},"capabilities":{"tools":{"listChanged":true},"logging":{},"resources":{"subscribe":true}},"instructions":"i"}}`,
];

async function startParrot(args: string[] = []) {
  const herd = await startHerd(
    config([
      server('it', 'parrot.mjs', { args, request_timeout: 20, start_timeout: 3, restart: 'never' }),
      server('well', 'good.mjs'),
    ]),
  );
  await herd.fleet.start({ servers: ['it', 'well'] }, true);
  let calls = 0;
  /** Whatever the one does, the other answers. */
  const expectWell = async () => {
    calls += 1;
    expect(await herd.say('well', 'echo', { value: calls })).toBe(String(calls));
    expect(isAlive(herd.daemon.pid)).toBe(true);
  };
  return { ...herd, expectWell };
}

const base64 = (bytes: Buffer) => bytes.toString('base64');

describe('L3: for any output of a server', () => {
  it(
    'each call settles once, with its own reply or a typed error, and no other call is affected',
    async () => {
      const { home, fleet, status, expectWell } = await startParrot();
      const [victim, caller] = [new LineClient(home.socket), new LineClient(home.socket)];
      await victim.hello();
      await caller.hello();
      let run = 0;
      const seen = new Map<string, number>();
      const lines = fc.array(
        fc.oneof(
          { weight: 5, arbitrary: mutated(SAYINGS, 0) },
          { weight: 1, arbitrary: mutated(ABOUT_OTHERS, 0) },
        ),
        { minLength: 1, maxLength: 4 },
      );
      await fc.assert(
        fc.asyncProperty(
          lines,
          fc.array(fc.nat(400), { maxLength: 3 }),
          fc.boolean(),
          async (parts, cuts, isRaw) => {
            run += 1;
            const bytes = Buffer.concat(parts.flatMap((part) => [part, Buffer.from('\n')]));
            const before = victim.lines.length;
            victim.say({ id: run, method: 'tools/call', params: { name: 'it__hold', arguments: {} } });
            await until(async () => (await status('it')).in_flight === 1);
            const sayings = {
              bytes: base64(bytes),
              cuts: [0, ...cuts.sort((a, b) => a - b)],
              value: `honest ${run}`,
            };
            let kind: string;
            if (isRaw) {
              const reply = await caller.ask(run, 'tools/call', {
                name: 'it__say',
                arguments: sayings,
                _meta: { progressToken: 't' },
              });
              kind =
                reply.error !== undefined ? 'rpc error' : textOf(reply) === sayings.value ? 'honest' : 'said';
            } else {
              const { success, error, content } = await fleet.call({
                server: 'it',
                tool: 'say',
                arguments: sayings,
              });
              if (!success)
                expect(error).toMatchObject({
                  type: expect.stringMatching(/Error$/),
                  message: expect.any(String),
                  sent: true,
                });
              const [block] = content as { text?: string }[];
              kind = error?.type ?? (block?.text === sayings.value ? 'honest' : 'said');
            }
            seen.set(kind, (seen.get(kind) ?? 0) + 1);
            const release = await fleet.call({
              server: 'it',
              tool: 'release',
              arguments: { value: `own ${run}` },
            });
            const held = (release.content[0] as { text: string }).text;
            const own = await until(() =>
              victim.lines.slice(before).find((line) => line.id === run && line.method === undefined),
            );
            const isMeant =
              bytes.toString('latin1').includes('@HELD@') || bytes.toString('latin1').includes(held);
            if (!isMeant) expect(textOf(own)).toBe(`own ${run}`);
            await Promise.all([victim.settle(), caller.settle(), expectWell()]);
            for (const one of [victim, caller]) {
              const answers = one.lines.filter((line) => line.id === run && line.method === undefined);
              expect(answers.length).toBe(one === victim || isRaw ? 1 : 0);
            }
            expect(await status('it')).toMatchObject({ in_flight: 0, incarnation: 1 });
          },
        ),
        livingRuns(25, 4000),
      );
      measured(`L3: outcomes of calls to a server that answers at random: ${counts(seen)}`);
      for (const kind of ['honest', 'said']) expect(seen.get(kind) ?? 0, kind).toBeGreaterThan(1);
    },
    PATIENCE_MS,
  );

  it(
    'a list is shown or missing, and the server can still be called',
    async () => {
      const { fleet, say, expectWell, status } = await startParrot();
      await fc.assert(
        fc.asyncProperty(mutated(LISTS), async (bytes) => {
          expect(await say('it', 'list', { bytes: base64(bytes) })).toBe('kept');
          const listed = await fleet.tools('it', true).catch((error: { type: string }) => error);
          if ('type' in listed) expect(listed.type).toMatch(/Error$/);
          else
            for (const { name, exposed_name } of listed.tools)
              expect([typeof name, exposed_name]).toEqual([
                'string',
                expect.stringMatching(/^[\w.-]{1,64}$/),
              ]);
          await expectWell();
          // a list without its capability is not read
          await fleet.tools('it', true);
          expect(await say('it', 'say', { bytes: '', cuts: [], value: 'well' })).toBe('well');
          expect(await status('it')).toMatchObject({ in_flight: 0, incarnation: 1 });
        }),
        livingRuns(15, 3000),
      );
    },
    PATIENCE_MS,
  );

  it(
    'a handshake is accepted or ends with its reason, and the next start begins anew',
    async () => {
      const { home, fleet, say, expectWell, status } = await startParrot(['greeting']);
      const file = join(home.folder, 'greeting');
      let taken = 0;
      await fc.assert(
        fc.asyncProperty(mutated(GREETINGS, 0), async (bytes) => {
          writeFileSync(file, base64(bytes));
          await fleet.stop({ servers: ['it'] }, true);
          const [began] = await fleet.start({ servers: ['it'] }, true).catch((error: { type: string }) => {
            expect(error.type).toMatch(/Error$/);
            return [];
          });
          if (began?.state === 'connected') taken += 1;
          else expect((await status('it')).last_error?.message).toMatch(/^it: /);
          await expectWell();
          rmSync(file);
          await fleet.stop({ servers: ['it'] }, true);
          await fleet.reset({ servers: ['it'] });
          await fleet.start({ servers: ['it'] }, true);
          expect(await say('it', 'say', { bytes: '', cuts: [], value: 'well' })).toBe('well');
        }),
        livingRuns(2, 250),
      );
      expect(taken).toBeGreaterThan(0);
    },
    PATIENCE_MS,
  );
});
