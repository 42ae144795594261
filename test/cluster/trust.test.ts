import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LogEntry } from '../../src/fleet/fleet.js';
import { server } from '../faults/config.js';
import { makeFolder } from '../support/folder.js';
import { startHerd, until } from '../support/herd.js';
import { startNatsServer, whyNoNatsServer } from '../support/nats-server.js';
import { share } from '../support/share.js';
import { clusterOf, countsIn, newClusterName, nodeConfig, startNodes } from './daemons.js';

const missing = whyNoNatsServer();

describe.runIf(missing === undefined)('what nodes of a cluster believe', () => {
  const nats = share(() => startNatsServer());

  it('a call whose server answers with an error that looks like one of toolherd runs once', async () => {
    const file = join(makeFolder(), 'ran');
    const mail = server('mail', 'says-unsent.mjs', { cluster: true, args: [file] });
    const { a } = await startNodes(nats(), { a: [], b: [mail], c: [mail] });
    await until(async () => (await a.status('mail').catch(() => undefined))?.nodes?.length === 2);
    const { error } = await a.fleet.call({ server: 'mail', tool: 'mail', arguments: { key: 'one' } });
    expect(countsIn(file).get('one')).toBe(1);
    expect(error).toMatchObject({ sent: true });
    expect(error?.message).toContain('not delivered');
  });

  it('the log of a server that several nodes share is read once from each', async () => {
    const both = server('both', 'takes-time.mjs', { cluster: true });
    const { a, b, c } = await startNodes(nats(), { a: [both], b: [both], c: [both] });
    await until(async () => (await a.status('both')).nodes?.length === 2);
    for (const herd of [a, b, c]) await herd.fleet.start({ servers: ['both'] }, true);
    for (const herd of [a, b, c]) await herd.say('both', 'print', { line: 'said on stderr' });
    const nodes = async () =>
      new Set((await a.fleet.logs({ server: 'both' })).map(({ node }) => node ?? 'a'));
    await until(async () => (await nodes()).size === 3);
    const before = (await a.fleet.agents()).length;
    const startedAt = performance.now();
    const entries = await a.fleet.logs({ server: 'both' });
    expect(performance.now() - startedAt).toBeLessThan(2000);
    const key = (entry: LogEntry) => JSON.stringify(entry);
    expect(new Set(entries.map(key)).size).toBe(entries.length);
    expect((await a.fleet.agents()).length).toBe(before);
    expect((await clusterOf(a)).state).toBe('connected');
  });

  it('a long result of a server with result_limit arrives whole, so that the node of the caller can cut it', async () => {
    const large = server('large', 'takes-time.mjs', { result_limit: 1000 });
    const { a } = await startNodes(nats(), { a: [], b: [large] });
    await until(async () => (await a.status('large').catch(() => undefined))?.nodes?.length === 1);
    const { content } = await a.fleet.call({ server: 'large', tool: 'give', arguments: { bytes: 5000 } });
    expect(content[0]?.type === 'text' && content[0].text).toBe('x'.repeat(5000));
  });

  it('a password that NATS refuses is in no status, error or log of the node', async () => {
    const password = 'hunter2-of-the-cluster';
    const user = '{user: desk, password: another-one}';
    const strict = await startNatsServer({ config: [`authorization: {users: [${user}]}`] });
    const credentials = { user: 'desk', password };
    const text = nodeConfig(strict, newClusterName(), 'desk', [], { cluster: { credentials } });
    const desk = await startHerd(text);
    const why = await until(async () => {
      const { why: told } = await clusterOf(desk);
      return told?.includes('credentials') && told;
    });
    const shown = [why, await clusterOf(desk), await desk.fleet.status(), await desk.fleet.logs()];
    expect(JSON.stringify(shown)).not.toContain(password);
    const log = readFileSync(join(desk.home.folder, 'state', 'logs', 'daemon.log'), 'utf8');
    expect(log).toContain('does not accept');
    expect(log).not.toContain(password);
  });
});
