import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { command, config, fixturePath } from '../faults/config.js';
import { DIST } from '../support/command.js';
import { makeFolder } from '../support/folder.js';
import { isAlive, killNow, startHerd, until } from '../support/herd.js';
import { atEnd } from '../support/share.js';

/** There is no docker engine here: `docker` is a stand-in, whose containers are processes that outlive their client. */
const boxed = command('boxed', 'docker', ['run', '-i', '--rm', 'image']);
const remote = ['http', 'websocket'].map((transport) => {
  const url = `${transport === 'http' ? 'http' : 'ws'}://127.0.0.1:9/`;
  return { name: transport, description: 'd', server: 's', transport, url };
});

describe('a daemon whose files were deleted, as by an upgrade', () => {
  it('removes its containers, and reports what it cannot load with a fix', async () => {
    const bin = join(makeFolder(), 'bin');
    cpSync(join(DIST, 'bin'), bin, { recursive: true });
    const environment = { PATH: `${fixturePath('bin')}:${process.env.PATH}` };
    const { fleet, daemon, say, status } = await startHerd(config([boxed, ...remote]), {
      environment,
      bin,
    });
    await fleet.start({ servers: ['boxed'] }, true);
    const container = Number(await say('boxed', 'container'));
    atEnd(() => killNow(container));
    expect(isAlive(container)).toBe(true);
    rmSync(bin, { recursive: true });

    for (const { name } of remote) {
      await fleet.start({ servers: [name] }, true);
      const { last_error } = await status(name);
      expect(last_error).toMatchObject({ message: expect.stringContaining('toolherd up --replace') });
    }
    await fleet.stop({ servers: ['boxed'] }, true);
    await until(() => !isAlive(container));
    expect((await status('boxed')).state).toBe('disconnected');
    expect(isAlive(daemon.pid)).toBe(true);
  });
});
