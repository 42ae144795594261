import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { COMMANDS } from '../../src/cli/core/command-names.js';
import { command, config, fixturePath, server } from '../faults/config.js';
import { COMMAND, type Outcome, toolherd } from '../support/command.js';
import { makeFolder } from '../support/folder.js';
import { makeHome, until } from '../support/herd.js';
import { ELSEWHERE, FAILURE, SCHEMAS } from './schemas.js';

const SERVERS = config([
  server('offers', 'offers.mjs'),
  server('typed', 'typed.mjs'),
  command('dies', '/nowhere/server', []),
  server('off', 'good.mjs', { enabled: false }),
]);
const HERD = `${SERVERS}profiles: {sums: {description: Sums, tools: [typed.add], rename: {typed.add: sum}}}\n`;
const SOURCE = {
  name: 'extra',
  description: 'd',
  server: 's',
  command: process.execPath,
  args: [fixturePath('good.mjs')],
  // how far one that is enabled has come when it is shown is a matter of luck
  enabled: false,
};
const AGENT =
  'tools:\n  - {name: mine, type: mcp, description: Mine, server: m, command: npx, args: [-y, mine]}\n';

/** The commands in an order in which each has something to show. */
const COMMAND_LINES: readonly (readonly string[])[] = [
  ['up'],
  ['up'],
  ['start', 'offers', 'typed', '--wait'],
  ['start', 'dies', '--wait'],
  ['tools', 'offers'],
  ['tools', 'typed', '--schema'],
  ['find', 'order an item'],
  ['find', 'echho', '--server', 'offers'],
  ['profiles'],
  ['prompts', 'offers'],
  ['resources', 'offers'],
  ['call', 'typed.add', 'a=1', 'b=2'],
  ['call', 'typed.ad'],
  ['call', 'typed.add', 'a=x'],
  ['call-many', 'calls.json'],
  ['prompt', 'offers.greet', 'who=you'],
  ['resource', 'offers', 'note://hello'],
  ['status'],
  ['agents'],
  ['audit', '-n', '3'],
  ['audit', '--failing'],
  ['why', 'offers'],
  ['why', 'dies'],
  ['why', 'off'],
  ['why', 'absent'],
  ['inspect', 'offers'],
  ['pins', 'offers'],
  ['outdated'],
  ['update', '--all', '--dry-run'],
  ['logs', '-n', '1'],
  ['register', 'extra.json'],
  ['unregister', 'extra'],
  ['reload', '--dry-run'],
  ['stop', 'typed', '--wait'],
  ['reset', 'typed'],
  ['restart', 'offers', '--wait'],
  ['validate', '../project/agent.yaml'],
  ['allow', '../project/agent.yaml', '--yes'],
  ['revoke', '../project/agent.yaml'],
  ['schema', 'agent'],
  ['cluster'],
  ['cluster', 'drain'],
  ['doctor'],
  ['completion', 'fish'],
  ['socket'],
  ['ui', '--print'],
  ['version'],
  ['help', 'version'],
  ['down'],
  ['status'],
];
/** Output that is long, depends on the machine, or is tested elsewhere. */
const NOT_GOLDEN = ['doctor', 'schema', 'inspect', 'logs'];

function prepareHome() {
  const home = makeHome(HERD);
  writeFileSync(join(home.folder, 'extra.json'), JSON.stringify(SOURCE));
  const calls = [1, 2].map((value) => ({ server: 'typed', tool: 'nothing', arguments: { value } }));
  writeFileSync(join(home.folder, 'calls.json'), JSON.stringify(calls));
  const folder = makeFolder({ 'agent.yaml': AGENT });
  const words = (args: readonly string[]) => args.map((word) => word.replace('../project', folder));
  const run = async (args: readonly string[]): Promise<Outcome> => {
    const outcome = await toolherd(words(args), { cwd: home.folder, env: home.environment });
    if (args[0] === 'up') home.adopt(Number(/pid\D+(\d+)/.exec(outcome.stdout)?.[1]));
    return outcome;
  };
  /** Numbers, places and widths are those of the day. */
  const normal = (text: string) =>
    text
      .replaceAll(folder, 'PROJECT')
      .replaceAll(home.folder, 'HOME')
      .replaceAll(process.execPath, 'NODE')
      .replaceAll(/key=[\w-]+/g, 'key=KEY')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      .replaceAll(/\b\d+[mhd](?=\d+[smh]\b)/g, '')
      .replaceAll(/\d+(\.\d+)?(ms|s|m|h|K|M)?\b/g, 'N')
      .replaceAll(/ {2,}/g, '  ');
  return { home, run, normal };
}

describe('the output of the commands', () => {
  it('texts for people equal golden/, except numbers', async () => {
    const { run, normal } = prepareHome();
    let text = '';
    for (const args of COMMAND_LINES) {
      const { status, stdout, stderr } = await run(args);
      if (NOT_GOLDEN.includes(args[0]!)) continue;
      text += `$ toolherd ${args.join(' ')}\n${normal(stdout)}${normal(stderr).replaceAll(/^(?=.)/gm, '! ')}`;
      text += status === 0 ? '\n' : `(exit ${status})\n\n`;
    }
    await expect(text).toMatchFileSnapshot('golden/commands.txt');
  }, 60_000);

  it('JSON for scripts follows the schema of each command, and a failure the schema of failures', async () => {
    const { run } = prepareHome();
    const ajv = new Ajv2020({ allErrors: true });
    const seen = new Set<string>(['events']);
    for (const args of COMMAND_LINES) {
      const { stdout, stderr } = await run([...args, '--json']);
      const value = JSON.parse(stdout);
      const isFailure = 'error' in value;
      if (!isFailure) seen.add(args[0]!);
      const isValid = ajv.validate(isFailure ? FAILURE : SCHEMAS[args[0]!]!, value);
      expect(isValid, `${args.join(' ')}: ${ajv.errorsText()} ${stderr}`).toBe(true);
    }
    expect([...seen].sort()).toEqual(Object.keys(SCHEMAS).sort());
  }, 60_000);

  it('has a schema for each command, or separate tests', () => {
    const known = [...Object.keys(SCHEMAS), ...ELSEWHERE];
    expect(Object.keys(COMMANDS).filter((command) => !known.includes(command))).toEqual([]);
  });

  it('that does not end is one line of JSON for each entry', async () => {
    const { home, run } = prepareHome();
    await run(['up']);
    const child = spawn(process.execPath, [COMMAND, 'events', '--json'], {
      cwd: home.folder,
      env: home.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let [text, notes] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      notes += chunk;
    });
    await until(() => notes.includes('listening'));
    await run(['call', 'typed.add', 'a=1', 'b=2']);
    await until(() => text.includes('"topic":"call"'));
    const closed = once(child, 'close');
    child.kill('SIGINT');
    expect((await closed)[0]).toBe(130);
    const ajv = new Ajv2020();
    for (const line of text.split('\n').slice(0, -1))
      expect(ajv.validate(SCHEMAS.events!, JSON.parse(line)), line).toBe(true);
  });
});
