// Published programs that have an MCP client, unchanged: each is attached by `toolherd attach` in a home made for it, connects,
// calls a tool of the herd where the stand-in model can drive it, and is detached. They are installed into .cache/ on the
// first run and run without a network, where the system allows that to a user. `npm run interop` is for SDKs.
// Usage: npm run interop:clients [-- --update] [--only codex,gemini] [--verbose]; --update writes the table of docs/CLIENTS.md.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { parseArgs, stripVTControlCharacters } from 'node:util';
import { execa, execaSync } from 'execa';
import { install } from '../shared/install.mjs';
import { markdownTable, replaceRegion } from '../shared/markdown.mjs';
import { commandOf, PROGRAMS } from './interop-clients/programs.mjs';
import { startModel } from './interop-clients/stand-in-model.mjs';

/** @typedef {import('./interop-clients/programs.mjs').Program} Program */
/** @typedef {{ folder: string, version: string }} Installed */

const LIST_MS = 60_000;
const ASK_MS = 120_000;
const root = join(import.meta.dirname, '..', '..');
const { values: flags } = parseArgs({
  options: {
    update: { type: 'boolean', default: false },
    only: { type: 'string' },
    verbose: { type: 'boolean', default: false },
    // The second half of the run, without a network: the installed programs, as JSON.
    installed: { type: 'string' },
  },
});
const programs = PROGRAMS.filter(({ client }) => flags.only?.split(',').includes(client) ?? true);

if (flags.installed === undefined) {
  const installed = JSON.stringify(
    Object.fromEntries(programs.map((program) => [program.client, installOne(program)])),
  );
  const words = [import.meta.filename, ...process.argv.slice(2), '--installed', installed];
  const isolated = ['-rn', 'sh', '-c', 'ip link set lo up && exec "$0" "$@"', process.execPath];
  const canIsolate = execaSync('unshare', [...isolated, '-e', '0'], { reject: false }).exitCode === 0;
  if (!canIsolate) console.log('no network namespace can be made: the programs run with the network');
  const [command, before] = canIsolate ? ['unshare', isolated] : [process.execPath, []];
  const { exitCode } = execaSync(command, [...before, ...words], { stdio: 'inherit', reject: false });
  process.exitCode = exitCode ?? 1;
} else {
  await runAll(JSON.parse(flags.installed));
}

/**
 * @param {Program} program
 * @returns {Installed | { failure: string }}
 */
function installOne({ package: name, version = 'latest' }) {
  try {
    const spec = version === 'latest' ? newest(name) : version;
    return install(`${name}@${spec}`, { folder: `interop/${name.replaceAll('/', '+')}` });
  } catch (error) {
    return { failure: firstLine(error) };
  }
}

/** @param {string} name */
function newest(name) {
  return execaSync('npm', ['view', name, 'version', '--loglevel=error']).stdout.trim();
}

/** @param {Record<string, Installed | { failure: string }>} installed */
async function runAll(installed) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolherd-clients-')));
  const herd = join(folder, 'herd');
  const model = await startModel({ verbose: flags.verbose });
  /** @type {{ program: Program, cells: string[], failed: boolean }[]} */
  const rows = [];
  try {
    startHerd(folder, herd);
    for (const program of programs) {
      const place = { home: join(folder, program.client), model: model.url };
      mkdirSync(join(place.home, 'project'), { recursive: true });
      const one = installed[program.client] ?? { failure: 'not installed' };
      const row =
        'failure' in one
          ? undefined
          : await check(program, one, { ...place, herd, bin: join(folder, 'bin') }, model);
      const cells = row ?? ['', `FAILED: ${'failure' in one ? one.failure : ''}`, '', ''];
      rows.push({ program, cells, failed: cells.some((cell) => cell.startsWith('FAILED')) });
      console.log(`${program.client}: ${cells.join(' | ')}`);
    }
  } finally {
    model.close();
    toolherd(join(folder, 'bin'), { TOOLHERD_HOME: herd, HOME: folder }, folder, 'down');
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
  if (flags.update && flags.only === undefined) updatePage(rows);
  const failed = rows.filter((row) => row.failed).map(({ program }) => program.client);
  console.log(failed.length === 0 ? 'all passed' : `failed: ${failed.join(', ')}`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}

/**
 * One herd for all: server-everything, as published.
 * @param {string} folder
 * @param {string} herd
 */
function startHerd(folder, herd) {
  const server = join(root, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js');
  const entry = {
    name: 'everything',
    description: 'everything',
    server: 'everything',
    command: 'node',
    args: [server],
  };
  const config = { version: '1.0', security: { allowed_commands: ['node'] }, mcp_servers: [entry] };
  mkdirSync(herd, { recursive: true });
  writeFileSync(join(herd, 'config.yaml'), JSON.stringify(config));
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const command = join(bin, 'toolherd');
  writeFileSync(
    command,
    `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'dist', 'bin', 'main.cjs')}' "$@"\n`,
  );
  chmodSync(command, 0o755);
  toolherd(bin, { TOOLHERD_HOME: herd, HOME: folder }, folder, 'up');
  toolherd(bin, { TOOLHERD_HOME: herd, HOME: folder }, folder, 'tools');
}

/**
 * @param {string} bin
 * @param {Record<string, string>} env
 * @param {string} cwd
 * @param {string[]} words
 */
function toolherd(bin, env, cwd, ...words) {
  const options = {
    cwd,
    env: { PATH: pathWith(bin), ...env },
    extendEnv: false,
    stdin: /** @type {const} */ ('ignore'),
  };
  return execaSync(join(bin, 'toolherd'), words, options).stdout;
}

/** @param {string} bin */
function pathWith(bin) {
  return [bin, dirname(process.execPath), process.env.PATH].join(delimiter);
}

/**
 * The cells of one program: version, connected, call, detached.
 * @param {Program} program
 * @param {Installed} installed
 * @param {{ home: string, model: string, herd: string, bin: string }} place
 * @param {Awaited<ReturnType<typeof startModel>>} model
 */
async function check(program, { folder, version }, place, model) {
  const { home, bin } = place;
  for (const [file, text] of Object.entries(program.files?.(place) ?? {})) {
    mkdirSync(dirname(join(home, file)), { recursive: true });
    writeFileSync(join(home, file), text);
  }
  const run = (/** @type {string[]} */ words, /** @type {number} */ timeout) =>
    runProgram(program, folder, place, words, timeout);
  if (program.login !== undefined) await run(program.login(place), LIST_MS);
  const own = { HOME: home, TOOLHERD_HOME: place.herd };
  const order = (/** @type {string} */ verb) =>
    JSON.parse(toolherd(bin, own, home, verb, program.client, '--json'));
  try {
    // once without the program in between: the file is as before to the byte
    const { file } = order('attach');
    const original = program.files?.(place)[file.slice(home.length + 1)];
    order('detach');
    if (readIfThere(file) !== original) throw new Error('detach left another file than attach found');
    order('attach');
    const attached = readIfThere(file);
    const connected = await connect(program, run);
    const called = await call(program, run, model);
    const present = readIfThere(file);
    if (flags.verbose && present !== attached) console.error(`    it changed its file to\n${present}`);
    order('detach');
    const left = readIfThere(file);
    if (left?.includes('toolherd')) throw new Error('detach left the entry');
    const isSame = left === original;
    if (!isSame && present === attached) throw new Error('detach left another file than attach found');
    const detached = isSame ? 'same bytes' : 'entry gone; the program had changed the file';
    return [version, connected, called, detached];
  } catch (error) {
    return [version, `FAILED: ${firstLine(error)}`, '', ''];
  }
}

/**
 * @param {Program} program
 * @param {(words: string[], timeout: number) => Promise<string>} run
 */
async function connect({ list, listed, connects = true }, run) {
  if (list === undefined || listed === undefined) return 'has no command for it';
  const shown = await run(list, LIST_MS);
  const line = shown.split('\n').find((one) => listed.test(one));
  if (line === undefined) return `FAILED: it showed ${firstLine(shown.trim())}`;
  return connects ? `\`${list.join(' ')}\`: yes` : `\`${list.join(' ')}\`: listed`;
}

/**
 * @param {Program} program
 * @param {(words: string[], timeout: number) => Promise<string>} run
 * @param {Awaited<ReturnType<typeof startModel>>} model
 */
async function call({ ask, unasked }, run, model) {
  if (ask === undefined) return unasked ?? 'not tried';
  model.forget();
  const shown = await run(ask, ASK_MS);
  const { answered, tools } = model.seen();
  if (answered) return tools === 0 ? 'yes, through its tool search' : `yes, of ${tools} tools`;
  return `FAILED: ${tools} tools of the herd were offered; it ended with ${firstLine(shown.trim().split('\n').at(-1))}`;
}

/**
 * Ends what a program has left behind; some start a background service. On Linux their environment names the home.
 * @param {string} home
 */
function killProcessesOf(home) {
  for (const pid of existsSync('/proc') ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : []) {
    if (`\0${readIfThere(join('/proc', pid, 'environ'))}`.includes(`\0HOME=${home}\0`)) kill(Number(pid));
  }
}

/** @param {number} pid */
function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended since.
  }
}

/**
 * What a program prints. It and everything that it leaves behind is ended.
 * @param {Program} program
 * @param {string} folder
 * @param {{ home: string, model: string, bin: string }} place
 * @param {string[]} words
 * @param {number} timeout
 */
async function runProgram(program, folder, place, words, timeout) {
  const child = execa(commandOf(program, folder), words, {
    cwd: join(place.home, 'project'),
    env: {
      PATH: pathWith(place.bin),
      HOME: place.home,
      TERM: 'dumb',
      NO_COLOR: '1',
      CI: '1',
      LANG: 'C.UTF-8',
      ...program.env?.(place),
    },
    extendEnv: false,
    stdin: 'ignore',
    all: true,
    timeout,
    killSignal: 'SIGKILL',
    reject: false,
  });
  const { all: shown = '', timedOut } = await child;
  const all = stripVTControlCharacters(shown);
  killProcessesOf(place.home);
  if (flags.verbose)
    console.error(`  $ ${program.client} ${words.join(' ')}\n${all.replaceAll(/^/gm, '    ')}`);
  return timedOut ? `${all}\nit did not end within ${timeout / 1000} s` : all;
}

/** @param {string} file */
function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** @param {unknown} error */
function firstLine(error) {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return line.replaceAll('|', '/').replaceAll(root, '.').slice(0, 160);
}

/** @param {{ program: Program, cells: string[] }[]} rows */
function updatePage(rows) {
  const page = join(root, 'docs', 'CLIENTS.md');
  const date = new Date().toISOString().slice(0, 10);
  const table = markdownTable(
    ['client', 'package', 'connected', 'called get-sum', 'after detach'],
    rows.map(({ program, cells: [version, ...cells] }) => [
      `\`${program.client}\``,
      `\`${program.package}@${version}\``,
      ...cells,
    ]),
  );
  const text = `Written by \`npm run interop:clients -- --update\`, ${date}.\n\n${table}`;
  writeFileSync(page, replaceRegion(readFileSync(page, 'utf8'), 'published clients', text));
}
