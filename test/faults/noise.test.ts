import { describe, expect, it } from 'vitest';
import { RawClient } from '../ipc/support.js';
import { type Herd, startHerd } from '../support/herd.js';
import { NOISE_MS } from '../support/noise.js';
import { config, server } from './config.js';
import { measured } from './measured.js';

/** Far below the timeout of the call. */
const FAST_MS = 500 + NOISE_MS;
const TIMEOUT_S = 30;

const startNoisyHerd = async () => {
  const herd = await startHerd(config([server('it', 'noisy.mjs', { request_timeout: TIMEOUT_S })]));
  await herd.fleet.tools('it');
  return herd;
};

/** Every path of a call, none of which may pass a broken reply. Returns the text, or the error. */
async function byFleet({ fleet }: Herd, tool: string): Promise<string> {
  const { error, content } = await fleet.call({ server: 'it', tool });
  return error === null ? (content[0] as { text: string }).text : `${error.type}: ${error.message}`;
}

async function byMcp({ home }: Herd, tool: string): Promise<string> {
  const client = await RawClient.open(home.socket);
  const { result } = await client.answer('tools/call', { name: `it__${tool}`, arguments: {} });
  client.socket.destroy();
  const [first] = (result as { content: { text: string }[] }).content;
  return first?.text.split('\n')[0] ?? '';
}

const WAYS = [
  ['fleet/call', byFleet],
  ['tools/call of MCP', byMcp],
] as const;

describe('U2: a server that prints noise on its stdout', () => {
  it.each(WAYS)('fails a call with a broken reply at once, and serves the next: %s', async (way, ask) => {
    const herd = await startNoisyHerd();
    for (const broken of ['glued', 'nul', 'badUtf8']) {
      const askedAt = performance.now();
      const told = await ask(herd, broken);
      const tookMs = performance.now() - askedAt;
      expect([broken, told]).toEqual([
        broken,
        expect.stringMatching(/^MCPProtocolError: it: the reply to tools\/call is unusable: /),
      ]);
      expect(tookMs).toBeLessThan(FAST_MS);
      measured(`U2: ${broken} by ${way}: an error after ${Math.round(tookMs)} ms`);
      expect(await ask(herd, 'bytewise')).toBe('gäbe es ☃');
    }
    expect(await herd.status('it')).toMatchObject({ state: 'connected', incarnation: 1, in_flight: 0 });
  });

  it.each(WAYS)('serves calls if the noise has its own lines, also byte by byte: %s', async (_, ask) => {
    const herd = await startNoisyHerd();
    for (let round = 0; round < 3; round += 1) {
      expect(await ask(herd, 'echoes')).toBe('echoed');
      expect(await ask(herd, 'bytewise')).toBe('gäbe es ☃');
    }
    const logged = (await herd.fleet.logs({ server: 'it' })).map(({ text }) => text);
    expect(logged).toEqual(expect.arrayContaining(['Welcome to noisy!', '42']));
    expect(await herd.status('it')).toMatchObject({ state: 'connected', incarnation: 1, failures: 0 });
  });
});
