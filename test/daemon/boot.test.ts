import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Script } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { wrap } from '../../src/bin/load-bundle.js';
import { config, server } from '../faults/config.js';
import { DIST } from '../support/command.js';
import { makeFolder } from '../support/folder.js';
import { isAlive, startHerd, until } from '../support/herd.js';

/** Notes at the end which files were loaded, and how often the daemon stood still for the disk or for a program. */
const SPY = `const fs = require('node:fs');
const processes = require('node:child_process');
const stood = { fsyncSync: 0, spawnSync: 0 };
for (const [module, name] of [[fs, 'fsyncSync'], [processes, 'spawnSync']]) {
  const real = module[name];
  module[name] = (...args) => {
    stood[name] += 1;
    return real(...args);
  };
}
process.on('exit', () => {
  const seen = JSON.stringify({ stood, files: Object.keys(require.cache) });
  fs.writeFileSync(process.env.SPY + '.new', seen);
  fs.renameSync(process.env.SPY + '.new', process.env.SPY);
});`;

describe('the start of a daemon', () => {
  it('loads compiled code only, nothing that other configs need, and blocks for its lock alone', async () => {
    const folder = makeFolder({ 'spy.cjs': SPY });
    const [spy, seen] = [join(folder, 'spy.cjs'), join(folder, 'seen.json')];
    const entries = ['a', 'b', 'c'].map((name) => server(name, 'good.mjs'));
    const { daemon, fleet } = await startHerd(config(entries), {
      node: ['--require', spy],
      environment: { SPY: seen },
    });
    const started = await fleet.start({ servers: ['a', 'b', 'c'] }, true);
    expect(started.map(({ state }) => state)).toEqual(['connected', 'connected', 'connected']);
    expect((await fleet.tools()).tools.length).toBeGreaterThan(2);
    daemon.kill('SIGTERM');
    await until(() => !isAlive(daemon.pid) && existsSync(seen));
    const { stood, files } = JSON.parse(readFileSync(seen, 'utf8'));
    // had V8 refused the program as it was kept, it would be here
    expect(files.map((file: string) => basename(file)).sort()).toEqual([
      'daemon.cjs',
      'last-look.cjs',
      'spy.cjs',
    ]);
    expect(stood).toEqual({ fsyncSync: 0, spawnSync: 1 });
  });
});

describe('the code cache of the daemon', () => {
  const PROGRAM =
    "console.log(Object.keys(require.cache).some((file) => file.endsWith('program.cjs')) ? 'read' : 'compiled');";

  /** The output of a daemon with such a code cache. */
  function run(
    spoil: (kept: Buffer) => Buffer,
    { v8 = process.versions.v8, of = PROGRAM, at = (path: string) => path } = {},
  ): string {
    const folder = makeFolder({ 'program.cjs': PROGRAM });
    const program = join(folder, 'program.cjs');
    copyFileSync(join(DIST, 'bin', 'daemon.cjs'), join(folder, 'daemon.cjs'));
    const code = new Script(wrap(of), { filename: program }).createCachedData();
    const digest = createHash('sha1').update(v8).update(code).update(of).digest();
    const cache = at(`${program}.${process.arch}.cache`);
    writeFileSync(cache, spoil(Buffer.concat([code, digest])));
    const env = { TOOLHERD_HOME: folder };
    return execFileSync(process.execPath, [join(folder, 'daemon.cjs')], { encoding: 'utf8', env }).trim();
  }

  it('is used unchanged', () => {
    expect(run((kept) => kept)).toBe('compiled');
  });

  it.each<[string, (kept: Buffer) => Buffer]>([
    ['one wrong bit', (kept) => kept.fill((kept.at(-40) ?? 0) ^ 1, kept.length - 40, kept.length - 39)],
    ['its second half gone', (kept) => kept.subarray(0, kept.length / 2)],
    ['nothing in it', () => Buffer.alloc(0)],
  ])('a code cache with %s is ignored, and the daemon starts', (_, spoil) => {
    expect(run(spoil)).toBe('read');
  });

  it('a code cache of another program of the same length is ignored', () => {
    const of = PROGRAM.replace("'compiled'", "'of other'");
    expect(run((kept) => kept, { of })).toBe('read');
  });

  it('a code cache by another version of V8 is ignored', () => {
    expect(run((kept) => kept, { v8: `${process.versions.v8}1` })).toBe('read');
  });

  it('that cannot be read is ignored', () => {
    const at = (path: string) => {
      mkdirSync(path);
      return join(path, 'elsewhere');
    };
    expect(run((kept) => kept, { at })).toBe('read');
  });
});

it('the bundle of the daemon has no validator of JSON Schema, which it would load and never use', () => {
  const program = readFileSync(join(DIST, 'bin', 'program.cjs'), 'utf8');
  expect(program).not.toContain('must NOT have additional properties');
  expect(program).toContain('notifications/cancelled');
});

it('the bundle of the daemon has no client of NATS, which only a node of a cluster loads', () => {
  const [program, nats] = ['program', 'nats'].map((name) =>
    readFileSync(join(DIST, 'bin', `${name}.cjs`), 'utf8'),
  );
  expect(program).not.toContain('no_responders');
  expect(nats).toContain('no_responders');
});
