import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../support/folder.js';
import { type Published, startRegistry } from '../support/npm-registry.js';
import { ROOT } from '../support/run.js';
import { share } from '../support/share.js';
import { openStore, outputOf } from './support.js';

/** Prints what a program can see of how it was started. */
const PROBE = `
const { basename, join } = require('node:path');
const seen = require('node:fs').existsSync(join(__dirname, 'built')) ? 'built' : '';
const path = process.env.PATH.split(':').filter((one) => !one.endsWith('node-gyp-bin')).slice(1);
const [, file, ...args] = process.argv;
console.log(JSON.stringify({ name: basename(file), args, cwd: process.cwd(), path, seen }));
`;
const NODE = `#!/usr/bin/env node\n${PROBE}`;
const SHELL = 'echo "shell $# $1" "$(basename "$0")"; pwd\n';

/** A library of machine code for this platform, which Node loads. */
function addon(): Buffer {
  const modules = join(ROOT, 'node_modules');
  const folder = join(modules, readdirSync(modules).find((name) => name.startsWith('lightningcss-'))!);
  return readFileSync(join(folder, readdirSync(folder).find((name) => name.endsWith('.node'))!));
}

const SHAPES: Record<string, Published & { args?: string[]; needs?: Published[] }> = {
  'one command with another name': {
    name: 'one-bin',
    version: '1.0.0',
    bin: { other: 'x.js' },
    files: { 'x.js': NODE },
  },
  'several commands, one named like the package': {
    ...{ name: '@scope/several', version: '1.0.0', bin: { another: 'no.js', several: 'x.js' } },
    files: { 'x.js': NODE, 'no.js': '#!/usr/bin/env node\nprocess.exit(1)' },
  },
  'a named command of a package with several': {
    ...{ name: 'named', version: '1.0.0', bin: { named: 'no.js', second: 'x.js' } },
    files: { 'x.js': NODE, 'no.js': '#!/usr/bin/env node\nprocess.exit(1)' },
    args: ['-y', '-p', 'named', 'second', 'a'],
  },
  'an install script': {
    ...{ name: 'builds', version: '1.0.0', bin: 'x.js', files: { 'x.js': NODE } },
    manifest: { scripts: { install: 'echo built > built' } },
  },
  'engines that exclude this Node': {
    ...{ name: 'engines', version: '1.0.0', bin: 'x.js', files: { 'x.js': NODE } },
    manifest: { engines: { node: '>=99' } },
  },
  'a script with an interpreter other than Node': {
    ...{ name: 'shell', version: '1.0.0', bin: 'x', files: { x: `#!/bin/sh\n${SHELL}` } },
  },
  'a plain script without an interpreter': {
    ...{ name: 'plain', version: '1.0.0', bin: 'x', files: { x: SHELL } },
  },
  'native code in a package for this platform, beside one for another': {
    ...{ name: 'addon', version: '1.0.0', bin: 'x.js' },
    files: {
      'x.js': `#!/usr/bin/env node\nconsole.log(Object.keys(require('@addon/this/x.node')).sort().join())`,
    },
    manifest: { optionalDependencies: { '@addon/this': '1.0.0', '@addon/other': '1.0.0' } },
    needs: [
      {
        ...{ name: '@addon/this', version: '1.0.0', bin: {}, files: { 'x.node': addon() } },
        manifest: { os: [process.platform], cpu: [process.arch] },
      },
      { name: '@addon/other', version: '1.0.0', bin: {}, files: {}, manifest: { os: ['aix'] } },
    ],
  },
  'machine code': {
    ...{ name: 'native', version: '1.0.0', bin: 'x' },
    files: { x: readFileSync('/bin/echo') },
  },
};

describe('a package is started as by npx', () => {
  const shared = share(async () => {
    const registry = await startRegistry();
    registry.publish(...Object.values(SHAPES).flatMap((shape) => [shape, ...(shape.needs ?? [])]));
    return { registry, store: openStore(registry, makeFolder()) };
  });

  it.each(Object.entries(SHAPES))('%s', async (_, { name, args = ['-y', name, 'a', '--b=c d'] }) => {
    const { store } = shared();
    const entry = store.entry(args);
    expect(store.packages.describe(entry)?.runner).toBe('direct');
    const [direct, npx] = await Promise.all([
      store.launch(entry).then((launch) => outputOf(entry, launch)),
      outputOf(entry),
    ]);
    expect(npx.code).toBe(0);
    expect(npx.stdout).not.toBe('');
    expect(direct).toEqual(npx);
  });
});
