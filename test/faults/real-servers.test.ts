import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toolherd } from '../support/command.js';
import { isAlive, processesOf, startHerd, until } from '../support/herd.js';
import { command, config } from './config.js';

const ROOT = join(import.meta.dirname, '..', '..');

const npx = (name: string, ...args: string[]) =>
  command(name, 'npx', ['-y', `@modelcontextprotocol/server-${name}`, ...args], {
    cwd: ROOT,
    env: { MEMORY_FILE_PATH: '${workspaceFolder}/memory.jsonl' },
    stop: { close: 1, term: 3 },
  });

describe('the reference servers', () => {
  it('US1.2 FR-024 SC-002: run by npx, start at their first call, answer, and stop with the daemon', async () => {
    const herd = await startHerd(
      config([npx('everything'), npx('filesystem', '${workspaceFolder}'), npx('memory')]),
    );
    const { fleet, home, daemon, say } = herd;
    const { folder, environment } = home;
    writeFileSync(join(folder, 'hello.txt'), 'hello from a file\n');
    const names = ['everything', 'filesystem', 'memory'];
    expect((await fleet.status()).servers.flatMap(({ pids }) => pids)).toEqual([]);

    const entities = [{ name: 'toolherd', entityType: 'daemon', observations: ['keeps servers alive'] }];
    const [echo, file, graph] = await Promise.all([
      say('everything', 'echo', { message: 'ünïcode' }),
      say('filesystem', 'read_text_file', { path: join(folder, 'hello.txt') }),
      say('memory', 'create_entities', { entities }),
    ]);
    expect(echo).toContain('ünïcode');
    expect(file).toContain('hello from a file');
    expect(graph).toContain('keeps servers alive');

    const { servers } = await fleet.status();
    expect(servers.map(({ name, state, restarts }) => ({ name, state, restarts }))).toEqual(
      names.map((name) => ({ name, state: 'connected', restarts: 0 })),
    );
    for (const { tools, protocol_version, runner } of servers) {
      expect(runner).toBe('direct');
      expect(tools).toBeGreaterThan(3);
      expect(protocol_version).toBe('2025-11-25');
    }

    const again = await fleet.call({
      server: 'filesystem',
      tool: 'read_text_file',
      arguments: { path: join(folder, 'hello.txt') },
    });
    expect(again.metadata.execution_time_ms).toBeLessThan(10_000);

    const said = await toolherd(['call', 'everything.echo', 'message=by hand'], {
      cwd: folder,
      env: environment,
    });
    expect(said).toMatchObject({ status: 0, stderr: '' });
    expect(said.stdout).toContain('by hand');

    const pids = processesOf(daemon.id).map(({ pid }) => pid);
    const stopped = await fleet.stop({ all: true }, true);
    expect(stopped.map(({ state, detail }) => `${state} ${detail}`)).toEqual(
      names.map(() => 'disconnected stopped'),
    );
    await fleet.shutdown();
    await until(() => !isAlive(daemon.pid));
    expect(pids.filter(isAlive)).toEqual([]);
  }, 120_000);
});
