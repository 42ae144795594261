import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { VERSION } from '../src/shared/version.js';
import { DIST } from './support/command.js';
import { makeFolder } from './support/folder.js';
import { ROOT } from './support/run.js';

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** What is exported, and what is wrong where it is marked: a type that is lost would let that pass. */
const SCRIPT = `
import { connect, openFleet, type FleetHandle, type StateEvent, type TextResult, type ServerSpec } from 'toolherd';
import { connect as light, MCPTimeoutError, toError } from 'toolherd/client';
import { MCPConnectionError, MCPProtocolError, MCPToolNotFoundError } from 'toolherd';
const late: MCPConnectionError = new MCPTimeoutError('late', { sent: true });
console.log(late.type, late.why, late.fix, late.retryable, late.sent, late.code, late.data);
console.log(toError({ type: 't', message: 'm', retryable: false, sent: false }) instanceof MCPProtocolError);
const both: (() => Promise<FleetHandle>)[] = [() => openFleet({ agent: 'a' }), () => connect({ socket: 's' }), light];
for (const open of both) {
  const fleet = await open();
  const one: TextResult = await fleet.call('s', 't', { a: 1 }, { timeoutMs: 1, signal: AbortSignal.timeout(1) });
  for await (const { index, result } of fleet.callMany([{ server: 's', tool: 't' }])) result.text().at(index);
  const all: TextResult[] = await fleet.broadcast('t', {}, { servers: ['*'] });
  const off: () => void = fleet.on('state', (event: StateEvent) => event.detail);
  fleet.on('call', ({ duration_ms }) => duration_ms.toFixed());
  await fleet.server('s').connect().catch((error) => error instanceof MCPToolNotFoundError && error.code);
  // @ts-expect-error: a server has a name
  await fleet.call(1, 't');
  // @ts-expect-error: there is no such topic
  fleet.on('weather', () => undefined);
  off();
  await fleet.close();
  console.log(one.text(), all.length, {} as ServerSpec);
}
`;

/** The package as npm would install it, with the build of this run. */
function installed(): string {
  const folder = makeFolder({ 'package.json': JSON.stringify(manifest) });
  symlinkSync(DIST, join(folder, 'dist'));
  return folder;
}

describe('the package', () => {
  it('prints its own version', () => {
    expect(VERSION).toBe(manifest.version);
  });

  it('every file that it exports is built', () => {
    const exported = Object.values(manifest.exports as Record<string, string | Record<string, string>>);
    const files = exported.flatMap((entry) => (typeof entry === 'string' ? [entry] : Object.values(entry)));
    const folder = installed();
    expect([...files, manifest.bin.toolherd].filter((file) => !existsSync(join(folder, file)))).toEqual([]);
  });

  it('its command may be executed after every build', () => {
    expect(statSync(join(DIST, 'bin', 'main.cjs')).mode & 0o111).toBe(0o111);
  });

  it('a script in TypeScript finds its types', () => {
    const folder = makeFolder({ 'script.mts': SCRIPT, 'package.json': '{"type": "module"}' });
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(installed(), join(folder, 'node_modules', 'toolherd'));
    const options = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--noEmit'];
    const types = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules', '@types')];
    const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
    expect(execFileSync(tsc, [...options, ...types, 'script.mts'], { cwd: folder, encoding: 'utf8' })).toBe(
      '',
    );
  });

  it('installs one package, and the library imports no other', () => {
    const wanted = Object.keys(manifest.dependencies);
    expect(wanted).toEqual(['xstate']);
    const files = readdirSync(DIST).filter((file) => file.endsWith('.js'));
    const imported = files.flatMap((file) =>
      [
        ...readFileSync(join(DIST, file), 'utf8').matchAll(/^(?:import|export) .*?from "([^."/][^"]*)";$/gm),
      ].map(([, name = '']) => name),
    );
    const packages = imported.filter((name) => !name.startsWith('node:') && !isBuiltin(name));
    expect([...new Set(packages.map((name) => name.split('/')[0]))].sort()).toEqual(wanted);
  });

  it('the machine code of its bundles has no path of the machine that built it', () => {
    const bin = join(DIST, 'bin');
    const caches = readdirSync(bin).filter((file) => file.endsWith('.cache'));
    expect(caches).not.toEqual([]);
    expect(caches.filter((file) => readFileSync(join(bin, file)).includes(bin))).toEqual([]);
    expect(manifest.files).toContain('!dist/**/*.cache');
  });

  it('its lock file names no download address', () => {
    expect(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).not.toContain('"resolved"');
  });
});
