import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SCRIPTS } from '../../../../src/cli/commands/help/completion/scripts.js';
import { config, server } from '../../../faults/config.js';
import { COMMAND, toolherd } from '../../../support/command.js';
import { makeFolder } from '../../../support/folder.js';
import { makeHome, startHerd } from '../../../support/herd.js';

const HERD = config([server('typed', 'typed.mjs'), server('bad', 'unsafe.mjs'), server('cold', 'good.mjs')]);
const has = (program: string) => spawnSync(program, ['--version']).status === 0;

/** Presses Tab behind the last of the words, in a real bash; `|` parts the words. */
function pressTab(line: string, { cwd, env }: { cwd: string; env: Record<string, string> }): string[] {
  writeFileSync(join(cwd, 'toolherd'), `#!/bin/sh\nexec "${process.execPath}" "${COMMAND}" "$@"\n`, {
    mode: 0o755,
  });
  const words = line.split(' ');
  const script = `PATH="${cwd}:$PATH"; source <(toolherd completion bash)
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _toolherd; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['-c', script, 'bash', ...words], {
    cwd,
    env,
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  return stdout.split('\n').filter((word) => word !== '');
}

describe('completion in bash', () => {
  it('knows commands, options and words without a daemon, and starts none', async () => {
    const home = makeHome(HERD);
    const options = { cwd: home.folder, env: home.environment };
    expect(pressTab('toolherd sta', options)).toEqual(['status', 'start']);
    expect(pressTab('toolherd status --w', options)).toEqual(['--watch', '--wait']);
    expect(pressTab('toolherd --jso', options)).toEqual(['--json']);
    expect(pressTab('toolherd inspect x --chart ', options)).toEqual(['mermaid', 'svg']);
    expect(pressTab('toolherd completion ', options)).toEqual(['bash', 'zsh', 'fish']);
    expect(pressTab('toolherd why ', options)).toEqual([]);
    expect(pressTab('toolherd nonsense ', options)).toEqual([]);
    expect((await toolherd(['status'], options)).status).toBe(3);
  });

  it('knows servers, tools and arguments of the running herd, and starts no server', async () => {
    const herd = await startHerd(HERD);
    await herd.fleet.tools('typed');
    await herd.fleet.tools('bad');
    const options = { cwd: herd.home.folder, env: herd.home.environment };
    expect(pressTab('toolherd why ', options)).toEqual(['typed', 'bad', 'cold']);
    expect(pressTab('toolherd stop typed c', options)).toEqual(['cold']);
    expect(pressTab('toolherd call t', options)).toEqual(['typed.']);
    expect(pressTab('toolherd call typed.', options)).toEqual(['typed.add', 'typed.order', 'typed.nothing']);
    expect(pressTab('toolherd --json call typed.add a=1 ', options)).toEqual(['b=', 'loud=']);
    // as bash itself parts words
    expect(pressTab('toolherd call typed.add a = 1 ', options)).toEqual(['b=', 'loud=']);
    expect(pressTab('toolherd call typed.add a = lo', options)).toEqual([]);
    expect(pressTab('toolherd call typed.add a =', options)).toEqual([]);
    expect(pressTab('toolherd bridge --server ', options)).toEqual(['typed', 'bad', 'cold']);
    expect(pressTab('toolherd call cold.', options)).toEqual([]);
    expect((await herd.status('cold')).incarnation).toBe(0);
  });

  it('knows the values that a schema allows, the URIs of resources, and the clients', async () => {
    const herd = await startHerd(config([server('typed', 'typed.mjs'), server('offers', 'offers.mjs')]));
    await herd.fleet.tools('typed');
    await herd.fleet.resources('offers');
    const options = { cwd: herd.home.folder, env: herd.home.environment };
    expect(pressTab('toolherd call typed.order size=', options)).toEqual(['size=small', 'size=large']);
    // as bash itself parts words
    expect(pressTab('toolherd call typed.order size = l', options)).toEqual(['large']);
    expect(pressTab('toolherd resource offers ', options)).toEqual(['note://hello', 'image://dot']);
    expect(pressTab('toolherd resource typed ', options)).toEqual([]);
    for (const line of ['attach', 'detach', 'import --from'])
      expect(pressTab(`toolherd ${line} vs`, options)).toEqual(['vscode']);
  });

  it('knows modes of the surface, and the profiles of the config files, without a daemon', async () => {
    const profiles = { review: {}, research: { tools: ['typed.*'] } };
    const home = makeHome(`${HERD}profiles: ${JSON.stringify(profiles)}\n`);
    const options = { cwd: home.folder, env: home.environment };
    for (const command of ['bridge', 'attach cursor']) {
      expect(pressTab(`toolherd ${command} --surface `, options)).toEqual(['auto', 'all', 'search']);
      expect(pressTab(`toolherd ${command} --profile re`, options)).toEqual(['review', 'research']);
    }
    const other = makeFolder({ 'agent.yaml': 'profiles: {shop: {}}\n' });
    const named = `toolherd --agent ${join(other, 'agent.yaml')} bridge --profile s`;
    expect(pressTab(named, options)).toEqual(['shop']);
    home.configure('profiles: [');
    expect(pressTab('toolherd bridge --profile ', options)).toEqual([]);
    expect((await toolherd(['status'], options)).status).toBe(3);
  });

  it('X2: does not offer a name with special characters of a shell', async () => {
    const herd = await startHerd(HERD);
    await herd.fleet.tools('bad');
    const options = { cwd: herd.home.folder, env: herd.home.environment };
    expect(pressTab('toolherd call bad.', options)).toEqual(['bad.echo', 'bad.fail']);
  });
});

describe('completion in other shells', () => {
  const syntax = { bash: ['-n'], zsh: ['-n'], fish: ['--no-execute'] };
  it.each(['bash', 'zsh', 'fish'] as const)('the script for %s has no syntax error', (shell) => {
    if (!has(shell)) {
      console.info(`${shell} is not installed: its script was only looked at`);
      expect(SCRIPTS[shell]).toMatch(/completion --at .* -- /);
      return;
    }
    const file = join(makeFolder({ script: SCRIPTS[shell] }), 'script');
    expect(spawnSync(shell, [...syntax[shell], file], { encoding: 'utf8' })).toMatchObject({
      status: 0,
      stderr: '',
    });
  });

  it('an unknown shell gets the list of shells', async () => {
    expect(await toolherd(['completion', 'tcsh'], { cwd: makeFolder() })).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('usage: toolherd completion bash|zsh|fish'),
    });
  });
});
