import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { connectFleet } from '../../src/library/connect-fleet.js';
import { makeFolder } from '../support/folder.js';
import { type Herd, isAlive, startHerd } from '../support/herd.js';
import { NOISE_MS } from '../support/noise.js';
import { config, server } from './config.js';
import { measured, millis } from './measured.js';

const GOOD = config([server('one', 'good.mjs')]);
const doublings = Array.from({ length: 45 }, (_, at) => `a${at + 1}: &a${at + 1} [*a${at}, *a${at}]\n`);

/** Each of these ends a process that parses it as it is, some only at the second time. */
const BOMBS: [what: string, text: string][] = [
  ['850 brackets', '['.repeat(850)],
  ['a million brackets', '['.repeat(2 ** 20)],
  ['braces', '{a: '.repeat(5000)],
  ['keys of keys', '? '.repeat(20_000)],
  ['doublings', `a0: &a0 x\n${doublings.join('')}`],
  ['a list in itself', 'a: &a [*a, *a]\n'],
];

/** Status and server are unchanged. */
async function expectUntouched({ fleet, say, daemon }: Herd, pid: string): Promise<void> {
  expect(await say('one', 'pid')).toBe(pid);
  expect((await fleet.status()).servers).toMatchObject([{ name: 'one', incarnation: 1 }]);
  expect(isAlive(daemon.pid)).toBe(true);
}

describe('a hostile config for a running daemon', () => {
  it('C2: deep or exploding YAML is refused at once, twice, and the servers run on', async () => {
    const herd = await startHerd(GOOD);
    const pid = await herd.say('one', 'pid');
    const times: number[] = [];
    for (const [what, text] of BOMBS) {
      herd.home.configure(text);
      for (let time = 0; time < 2; time += 1) {
        const began = performance.now();
        const refused = await herd.fleet.reload().catch((error: { type: string }) => error.type);
        times.push(performance.now() - began);
        expect([what, refused]).toEqual([what, 'ConfigError']);
      }
    }
    measured(`C2: ${BOMBS.length} bombs, twice each, refused after ${millis(Math.max(...times))} at most`);
    expect(Math.min(...times)).toBeLessThan(100 + NOISE_MS / 10);
    expect(Math.max(...times)).toBeLessThan(1000 + NOISE_MS);
    await expectUntouched(herd, pid);
  });

  it("C3: a project's envFile outside of its folder, by path or by link, refuses its file", async () => {
    const herd = await startHerd(GOOD.replace('security: {', 'security: {trust: all, '));
    const pid = await herd.say('one', 'pid');
    const project = makeFolder();
    symlinkSync('/etc/hostname', join(project, 'linked.env'));
    symlinkSync('/etc', join(project, 'linked'));
    const agent = join(project, 'agent.yaml');
    const out = ['../out.env', '/etc/hostname', 'linked.env', 'linked/hostname', 'sub/../../out.env'];
    for (const envFile of out) {
      const entry = { type: 'mcp', ...server('two', 'good.mjs', { envFile }) };
      writeFileSync(agent, JSON.stringify({ tools: [entry] }));
      await expect(connectFleet({ socket: herd.home.socket, agent })).rejects.toThrow(
        /leaves the folder|by a link/,
      );
      expect(await herd.say('one', 'pid')).toBe(pid);
    }
    measured(`C3: ${out.length} ways out of the folder, all refused`);
  });
});
