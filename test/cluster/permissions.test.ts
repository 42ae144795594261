import { expect, it } from 'vitest';
import { server } from '../faults/config.js';
import { readDoc } from '../support/docs.js';
import { startHerd, until } from '../support/herd.js';
import { startNatsServer, whyNoNatsServer } from '../support/nats-server.js';
import { clusterOf, nodeConfig, seesOthers } from './daemons.js';

const why = whyNoNatsServer();
if (why !== undefined) console.warn(`left out, because ${why}: the permissions of SECURITY.md`);

/** The user of SECURITY.md for one of these nodes. */
function userOf(node: string): string {
  const text = /users: \[\n(.*?)\n {2}\]\n\}\n```/s.exec(readDoc('docs/SECURITY.md'))?.[1] ?? '';
  expect(text).toContain('permissions');
  return text.replaceAll('desk', node).replace(/\$\w+_PASSWORD/, `"secret-of-${node}"`);
}

it.runIf(why === undefined)(
  'the permissions of SECURITY.md let a node do all of its work, and take no name of another',
  async () => {
    const users = ['desk', 'gpu', 'lab'].map(userOf).join(',\n');
    const nats = await startNatsServer({ config: [`authorization {\n  users: [\n${users}\n  ]\n}`] });
    const as = (user: string) => ({ cluster: { credentials: { user, password: `secret-of-${user}` } } });
    const start = (node: string, user = node) =>
      startHerd(nodeConfig(nats, 'toolherd', node, [server(`of-${node}`, 'good.mjs')], as(user)));
    const [desk, gpu] = await Promise.all([start('desk'), start('gpu')]);
    await Promise.all([seesOthers(desk, 1), seesOthers(gpu, 1)]);
    await until(async () => (await clusterOf(desk)).nodes[1]?.servers.length === 1);
    expect(await desk.say('of-gpu', 'echo', { value: 'hi' })).toBe('hi');
    expect(await gpu.say('of-desk', 'echo', { value: 'ho' })).toBe('ho');
    await until(async () => (await clusterOf(desk)).nodes[1]?.latency_ms !== null);
    // the user of lab says that it is another node
    const liar = await start('liar', 'lab');
    await until(async () => ((await clusterOf(liar)).why ?? '').includes('may not publish to'));
    expect((await clusterOf(liar)).state).toBe('connecting');
    expect((await clusterOf(desk)).nodes.map(({ name }) => name)).toEqual(['desk', 'gpu']);
  },
);
