import { describe, expect, it } from 'vitest';
import { server } from '../faults/config.js';
import { toolherd } from '../support/command.js';
import { type Herd, until } from '../support/herd.js';
import { startNatsServer, whyNoNatsServer } from '../support/nats-server.js';
import { share } from '../support/share.js';
import { startNodes } from './daemons.js';

const why = whyNoNatsServer();
if (why !== undefined) console.warn(`left out, because ${why}: the command on nodes of a cluster`);

const runOn =
  ({ home }: Herd) =>
  async (...args: string[]) => {
    const { status, stdout, stderr } = await toolherd(args, { cwd: home.folder, env: home.environment });
    return { status, stdout, stderr };
  };

describe.runIf(why === undefined)('the command on a node of a cluster', () => {
  const nodes = share(async () => {
    const placed = server('placed', 'ends-with-words.mjs', { place: ['gpu'] });
    return startNodes(await startNatsServer(), {
      desk: [placed, server('both', 'good.mjs', { cluster: true })],
      gpu: [placed, server('both', 'good.mjs', { cluster: true })],
    });
  });

  it('cluster status has both nodes and what they share; status, why and doctor agree', async () => {
    const run = runOn(nodes().desk);
    await until(async () => /^placed +0 +no +gpu/m.test((await run('cluster')).stdout));
    const { stdout } = await run('cluster', 'status');
    expect(stdout).toMatch(/^desk: a node of the cluster c\d+-\d+\nnats: connected for /);
    expect(stdout).toMatch(/^desk \(this\) +up .*\ngpu +up /m);
    expect(stdout).toMatch(/^both +0 +yes +desk \w+, gpu \w+$/m);
    expect((await run('cluster', '--exit-code')).status).toBe(0);
    expect((await run('status')).stdout).toMatch(
      /^both .* {2}this, gpu\nplaced .* {2}gpu$|^placed .* {2}gpu$/m,
    );
    expect((await run('status', '-v')).stderr).toContain('desk is a node of the cluster');
    expect((await run('why', 'placed')).stdout).toContain('calls go to that node');
    const { findings } = JSON.parse((await run('doctor', '--json')).stdout);
    expect(findings).toContainEqual({
      about: 'cluster',
      level: 'ok',
      message: expect.stringMatching(/^desk is a node of c\S+, with 1 other node$/),
    });
  });

  it('logs shows what a server wrote on another node, and which node that was', async () => {
    const { desk, gpu } = nodes();
    expect(await desk.say('placed', 'write', { words: 'written there' })).toBe('written');
    await until(async () => (await runOn(gpu)('logs', 'placed')).stdout.includes('written there'));
    const { stdout } = await runOn(desk)('logs', 'placed');
    expect(stdout).toMatch(/^\S+ info on gpu stderr: .*written there$/m);
    const { entries } = JSON.parse((await runOn(desk)('logs', 'placed', '--json')).stdout);
    expect(entries).toContainEqual(expect.objectContaining({ node: 'gpu', server: 'placed' }));
  });

  it('drain moves the calls of others away until undrain, and says so everywhere', async () => {
    const { desk, gpu } = nodes();
    expect(await runOn(gpu)('cluster', 'drain')).toMatchObject({
      status: 0,
      stdout: 'gpu is draining: it takes no new calls of other nodes\n',
    });
    await until(async () => /^gpu +draining/m.test((await runOn(desk)('cluster')).stdout));
    const failed = await runOn(desk)('call', 'placed.write', 'words=hi');
    expect(failed.stderr).toContain('no node of the cluster offers it now');
    expect(failed.stderr).toContain('sent: no');
    expect((await runOn(desk)('call', 'both.echo', 'value=hi')).stdout).toBe('hi');
    expect((await runOn(gpu)('call', 'placed.write', 'words=own')).stdout).toBe('written');
    expect((await runOn(gpu)('status')).stderr).toContain('gpu is draining');
    expect((await runOn(gpu)('doctor')).stdout).toContain('toolherd cluster undrain');
    const { stdout } = await runOn(gpu)('cluster', 'undrain', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ api_version: 1, draining: false, node: 'gpu' });
    await until(async () => (await runOn(desk)('call', 'placed.write', 'words=again')).status === 0);
  });
});
