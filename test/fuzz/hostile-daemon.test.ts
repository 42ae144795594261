import { chmodSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { connectFleet } from '../../src/library/connect-fleet.js';
import { makeFolder } from '../support/folder.js';
import { mutated } from './mutations.js';
import { livingRuns, PATIENCE_MS } from './runs.js';

const RESULT =
  '{"success":true,"content":[{"type":"text","text":"t"}],"error":null,"metadata":{"server":"s","tool":"t"}}';
/** Answers of a daemon; `@ID@` is the id of the last request. */
const SAYINGS = [
  `{"jsonrpc":"2.0","id":@ID@,"result":${RESULT}}`,
  '{"jsonrpc":"2.0","id":@ID@,"result":{"daemon":{"version":"0","pid":1,"started_at":"x"},"api_version":1,"agent":null}}',
  '{"jsonrpc":"2.0","id":@ID@,"result":{"servers":[{"name":"s","state":"connected"}],"daemon":{"pid":1}}}',
  `{"jsonrpc":"2.0","id":@ID@,"result":{"results":[${RESULT}]}}`,
  '{"jsonrpc":"2.0","id":@ID@,"error":{"code":1005,"message":"m","data":{"type":"ServerNotFoundError","message":"m","fix":"f"}}}',
  '{"jsonrpc":"2.0","method":"fleet/event","params":{"topic":"state","server":"s","at":"x","from":"a","to":"b"}}',
  '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1,"index":0,"result":{}}}',
  '{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}}',
];

it(
  'L3: every library call settles for any answer of a daemon, and no rejection is unhandled',
  async () => {
    const path = join(makeFolder(), 'd.sock');
    let sayings: Buffer[] = [];
    const daemon = createServer((socket) => {
      socket
        .on('error', () => undefined)
        .on('data', (chunk) => {
          for (const [, id = '0'] of chunk.toString('latin1').matchAll(/^\{"jsonrpc":"2.0","id":(\d+)/gm)) {
            const saying = sayings.shift()?.toString('latin1').replaceAll('@ID@', id) ?? '';
            // unanswered requests fail when the connection ends
            socket[sayings.length === 0 ? 'end' : 'write'](Buffer.from(`${saying}\n`, 'latin1'));
            if (sayings.length === 0) break;
          }
        });
    });
    await new Promise<void>((resolve) => daemon.listen(path, resolve));
    chmodSync(path, 0o600);
    onTestFinished(() => void daemon.close());
    const strays: unknown[] = [];
    const stray = (error: unknown) => void strays.push(error);
    process.on('uncaughtException', stray).on('unhandledRejection', stray);
    onTestFinished(() => void process.off('uncaughtException', stray).off('unhandledRejection', stray));
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(mutated(SAYINGS, 0), { minLength: 1, maxLength: 4 }),
        fc.boolean(),
        async (said, isGreeted) => {
          // connected or refused: the answer to hello decides
          sayings = isGreeted ? [Buffer.from(SAYINGS[1]!), ...said] : said.slice(0, 1);
          const fleet = await connectFleet({ socket: path }).catch((error: Error) => error);
          if (fleet instanceof Error) return;
          const signal = AbortSignal.timeout(5000);
          const asked = [
            fleet.status(),
            fleet.call({ server: 's', tool: 't', arguments: {} }, { signal }),
            fleet.callMany({ calls: [{ server: 's', tool: 't' }] }, { signal }),
            fleet.tools('s'),
          ];
          for (const outcome of await Promise.allSettled(asked)) {
            if (outcome.status === 'fulfilled') answered += 1;
            else expect(outcome.reason).toBeInstanceOf(Error);
          }
          fleet.close();
        },
      ),
      livingRuns(60, 3000),
    );
    expect(strays).toEqual([]);
    expect(answered).toBeGreaterThan(5);
  },
  PATIENCE_MS,
);
