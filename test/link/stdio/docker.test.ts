import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dockerWords, labelledArgs, removeContainers } from '../../../src/link/stdio/docker.js';
import { dockerRunAt } from '../../../src/shared/docker-run.js';
import { fixture, openLink, specOf } from '../support.js';

describe('a docker command', () => {
  it.each([
    ['docker', ['run', '-i', 'image'], 0],
    ['/usr/bin/docker', ['run', 'image'], 0],
    ['docker', ['container', 'run', 'image'], 1],
    ['docker', ['--context', 'run', '--debug', '-H', 'tcp://x', 'run', 'image'], 5],
    ['docker', ['exec', 'run', 'image'], -1],
    ['docker', ['compose', 'run', 'image'], -1],
    ['docker', [], -1],
    ['npx', ['run'], -1],
  ])('%s %j runs a container from word %i', (command, args, at) => {
    expect(dockerRunAt(command, args)).toBe(at);
  });

  it('gets the label right after run, and keeps every other word', () => {
    const args = ['--context', 'x', 'container', 'run', '-i', '--rm', 'image', 'run'];
    expect(labelledArgs(args, 3, 'id:1')).toEqual([
      ...['--context', 'x', 'container', 'run', '--label', 'toolherd.cookie=id:1'],
      ...['-i', '--rm', 'image', 'run'],
    ]);
    expect(dockerWords('docker', args, 3)).toEqual(['docker', '--context', 'x']);
  });
});

describe('a server in a container (with a stand-in for docker)', () => {
  let folder: string;
  const containers = () =>
    readdirSync(folder).map((id) => JSON.parse(readFileSync(join(folder, id), 'utf8')));

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'containers-'));
  });
  afterEach(() => {
    for (const { pid } of containers()) process.kill(pid, 'SIGKILL');
    rmSync(folder, { recursive: true });
  });

  const boxed = (config?: Record<string, unknown>) =>
    specOf('', {
      name: 'boxed',
      command: fixture('bin/docker'),
      args: ['--context', 'here', 'run', '-e', 'MCP_CONFIG', '-i', '--rm', '-e', 'STAND_IN', 'image'],
      env: { STAND_IN: folder },
      config,
    });

  it('carries our cookie as a label, and its configuration by name only', async () => {
    const { opened, table } = openLink(boxed({ token: 'canary' }));
    await opened;
    const [{ labels, names, words }] = containers();
    expect(labels).toEqual([`toolherd.cookie=${table.list()[0]?.cookie}`]);
    expect(names).toEqual(['MCP_CONFIG', 'STAND_IN']);
    expect(words.join(' ')).not.toContain('canary');
  });

  it('is removed by its label when its client was killed (P15)', async () => {
    const { link, opened, ended, logs } = openLink(boxed());
    const other = openLink(boxed());
    await Promise.all([opened, other.opened]);
    expect(containers()).toHaveLength(2);
    const [pid = 0] = link.pids;
    process.kill(pid, 'SIGKILL');
    expect(await ended).toMatchObject({ cause: 'exit', signal: 'SIGKILL' });
    expect(containers().map(({ labels }) => labels)).toEqual([
      [`toolherd.cookie=${other.table.list()[0]?.cookie}`],
    ]);
    expect(logs).toContainEqual({
      source: 'link',
      text: '1 containers outlived their client and were removed',
    });
  });

  it('whose docker fails delays nothing', async () => {
    expect(await removeContainers(['no-such-docker'], 'c', {})).toBeUndefined();
    expect(await removeContainers([], 'c', {})).toEqual([]);
  });
});
