import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type Home,
  herdIn,
  isAlive,
  killNow,
  makeHome,
  stateOf,
  until,
  watchdogOf,
} from '../support/herd.js';
import { NOISE_MS } from '../support/noise.js';
import { command, config, fixturePath } from './config.js';
import { measured } from './measured.js';

/** There is no docker engine here: `docker` is a stand-in, whose containers are processes that outlive their client. */
const STAND_IN = `${fixturePath('bin')}:${process.env.PATH}`;
const boxed = (name: string) => command(name, 'docker', ['run', '-i', '--rm', 'image']);

interface Container {
  pid: number;
  labels: string[];
}

function containersIn({ folder }: Home): Container[] {
  const place = join(folder, 'containers');
  if (!existsSync(place)) return [];
  return readdirSync(place).map((id) => JSON.parse(readFileSync(join(place, id), 'utf8')) as Container);
}

const logOf = ({ folder }: Home, name: string) =>
  readFileSync(join(folder, 'state', 'logs', `${name}.log`), 'utf8');

async function startBoxes(...names: string[]) {
  const home = makeHome(config(names.map(boxed)), { PATH: STAND_IN });
  // containers of the stand-in have no parent: they are killed after every test
  const born = new Set<number>();
  onTestFinished(() => [...born].forEach(killNow));
  const herd = await herdIn(home, await home.start());
  await herd.fleet.start({ all: true }, true);
  const containers = containersIn(home);
  expect(containers).toHaveLength(names.length);
  for (const { pid } of containers) born.add(pid);
  const [first = 0, ...others] = await Promise.all(
    names.map(async (name) => Number(await herd.say(name, 'container'))),
  );
  expect([first, ...others].every(isAlive)).toBe(true);
  return { ...herd, first, others, born };
}

describe('P15: a container (of a stand-in for docker) whose client is killed', () => {
  it('is removed by its label; other containers stay, and the next call gets a new one', async () => {
    const { home, first, others, say, status, born } = await startBoxes('one', 'other');
    const [client = 0] = (await status('one')).pids;
    const killedAt = performance.now();
    process.kill(client, 'SIGKILL');
    await until(() => !isAlive(first));
    const tookMs = performance.now() - killedAt;
    measured(`P15: removed ${Math.round(tookMs)} ms after its client was killed`);
    expect(tookMs).toBeLessThan(2000 + NOISE_MS);
    const next = Number(await say('one', 'container'));
    born.add(next);
    expect(
      containersIn(home)
        .map(({ pid }) => pid)
        .sort(),
    ).toEqual([next, ...others].sort());
    expect(others.every(isAlive)).toBe(true);
    expect(logOf(home, 'servers/one')).toContain('1 containers outlived their client and were removed');
  });

  it('the next daemon removes a container whose daemon and watchdog were killed with its client', async () => {
    const { home, daemon, first, others } = await startBoxes('one', 'other');
    const watchdog = await until(() => watchdogOf(daemon.id));
    daemon.kill('SIGSTOP');
    await until(() => stateOf(daemon.pid) === 'T');
    process.kill(watchdog, 'SIGKILL');
    daemon.kill('SIGKILL');
    await until(() => !isAlive(daemon.pid) && !isAlive(watchdog));
    expect([first, ...others].every(isAlive)).toBe(true);
    await home.start();
    expect([first, ...others].filter(isAlive)).toEqual([]);
    expect(containersIn(home)).toEqual([]);
    expect(logOf(home, 'daemon')).toContain('removed 2 containers that an earlier daemon left');
  });

  it('a daemon that ends removes the container with its client', async () => {
    const { home, daemon, first } = await startBoxes('one');
    daemon.kill('SIGTERM');
    await until(() => !isAlive(daemon.pid));
    expect(isAlive(first)).toBe(false);
    expect(containersIn(home)).toEqual([]);
  });

  it('a container that docker does not remove delays no call, and is logged', async () => {
    const { home, first, say, status, born } = await startBoxes('one');
    const refusal = join(home.folder, 'containers.fails');
    writeFileSync(refusal, '');
    const [client = 0] = (await status('one')).pids;
    process.kill(client, 'SIGKILL');
    const next = Number(await until(async () => /^\d+$/.exec(await say('one', 'container'))?.[0]));
    born.add(next);
    expect(isAlive(first)).toBe(true);
    expect(logOf(home, 'servers/one')).toContain('docker did not say whether a container was left');
    rmSync(refusal);
  });
});
