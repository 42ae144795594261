import { describe, expect, it } from 'vitest';
import { isNpx, parseNpx } from '../../src/packages/npx-command.js';

const read = (line: string) => parseNpx(line.split(' ').filter((word) => word !== ''));

describe('the arguments of npx', () => {
  it.each([
    ['-y pkg', { name: 'pkg', raw: 'pkg', version: '', kind: 'range', bin: undefined, args: [] }],
    ['pkg -y --port 80', { name: 'pkg', args: ['-y', '--port', '80'] }],
    [
      '--yes -q --silent @s/pkg@1.2.3 /data',
      { name: '@s/pkg', version: '1.2.3', kind: 'exact', args: ['/data'] },
    ],
    ['-y pkg@latest', { raw: 'pkg@latest', version: 'latest', kind: 'tag' }],
    ['-y pkg@next-1', { version: 'next-1', kind: 'tag' }],
    ['-y pkg@^1.2', { version: '^1.2', kind: 'range' }],
    ['-y pkg@1', { version: '1', kind: 'range' }],
    ['-y pkg@1.x', { version: '1.x', kind: 'range' }],
    ['-y pkg@*', { version: '*', kind: 'range' }],
    ['-y pkg@v1.2.3', { version: 'v1.2.3', kind: 'range' }],
    ['-y pkg@1.2.3-beta.1', { version: '1.2.3-beta.1', kind: 'exact' }],
    ['-y -p pkg cmd a', { name: 'pkg', bin: 'cmd', args: ['a'] }],
    ['--package=pkg@2 -y -- cmd -x', { raw: 'pkg@2', bin: 'cmd', args: ['-x'] }],
    ['--package @s/pkg cmd', { name: '@s/pkg', bin: 'cmd' }],
    ['-p=pkg cmd', { name: 'pkg', bin: 'cmd' }],
    ['-y -- pkg -- a', { name: 'pkg', args: ['--', 'a'] }],
  ])('%s is resolved', (line, expected) => expect(read(line)).toMatchObject(expected));

  it.each([
    ['-c pkg', '-c is not resolved'],
    ['--call=token pkg', '--call is not resolved'],
    ['--registry=http://x pkg', '--registry is not resolved'],
    ['-w one pkg', '-w is not resolved'],
    ['--no-install pkg', '--no-install is not resolved'],
    ['-p a -p b cmd', 'several packages are not resolved'],
    ['-y', 'no command is named'],
    ['-p pkg', 'no command is named'],
    ['-y ./folder', 'only packages of a registry are resolved'],
    ['-y user/repo', 'only packages of a registry are resolved'],
    ['-y git+ssh://host/x', 'only packages of a registry are resolved'],
    ['-y pkg@file:./x', 'only packages of a registry are resolved'],
    ['-y pkg@npm:other@1', 'only packages of a registry are resolved'],
    ['-y pkg.tgz', 'only packages of a registry are resolved'],
    ['-p pkg ./bin', 'a path as the command is not resolved'],
  ])('%s goes to npx as written', (line, why) =>
    expect(read(line)).toEqual({ plain: expect.stringContaining(why) }),
  );

  it('npx is known by its name, in any folder', () => {
    expect(['npx', '/opt/node/bin/npx', 'uvx', 'npx-wrapper'].map(isNpx)).toEqual([true, true, false, false]);
  });
});
