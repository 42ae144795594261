// Published clients find and call tools in search mode, in a herd whose servers are made from a set of real tools.
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { idOf, publicSets } from '../../bench/search/sets.mjs';
import { markdownTable } from '../shared/markdown.mjs';
import { entry, makeHome } from './interop-home.mjs';
import { CLIENTS } from './interop-sdks.mjs';

const USAGE = `Usage: npm run interop:search -- --data DIR [--only NAME]

  --data DIR   a folder with the sets that bench:search reads; the one with the most tools is taken
  --only NAME  only clients whose name has this text`;

const OWN = ['search_tools', 'describe_tools', 'call_tool', 'read_result'];
const MOST_TOKENS = 1000;
const CLIENT_NAMES = ['SDK v1', 'SDK v2, 2026-07-28', 'Inspector CLI, legacy', 'Inspector CLI, modern'];
/** A command connects anew for each request, and takes seconds for it. */
const TRIED = { sdk: 40, command: 3 };
const FIXTURE = join(import.meta.dirname, '..', '..', 'test', 'fixtures', 'catalogued.mjs');

/** @typedef {import('../../bench/search/sets.mjs').SetTool} SetTool */
/** @typedef {SetTool & { publicName: string }} NamedTool */
/** @typedef {import('./interop-sdks.mjs').Opened} Opened */

const { values: flags } = parseArgs({
  options: { data: { type: 'string' }, only: { type: 'string' }, help: { type: 'boolean' } },
});
if (flags.help || flags.data === undefined) {
  console.log(USAGE);
  process.exitCode = flags.help ? 0 : 2;
} else await run(resolve(flags.data));

async function run(/** @type {string} */ folder) {
  const [set] = publicSets(folder).sort((a, b) => b.tools.length - a.tools.length);
  if (set === undefined) throw new Error(`no set of tools is in ${folder}`);
  const home = makeHome();
  const rows = [];
  try {
    const { tokens, publicNames } = startHerd(home, set.tools);
    const tools = set.tools.map((tool) => ({ ...tool, publicName: publicNames.get(idOf(tool)) ?? '' }));
    console.log(`${set.title}: ${set.tools.length} tools, ${tokens} tokens where all are listed`);
    for (const client of CLIENTS) {
      if (!CLIENT_NAMES.includes(client.name) || !client.name.includes(flags.only ?? '')) continue;
      const tried = client.name.startsWith('SDK') ? TRIED.sdk : TRIED.command;
      const row = await check(home, client, sample(tools, tried)).catch((error) => ({
        cells: [`FAILED: ${home.firstLine(error)}`],
        isRight: false,
      }));
      rows.push({ name: client.name, ...row });
    }
  } finally {
    home.end();
  }
  const titles = ['client', 'lists', 'tokens before a task', 'found among the first ten', 'called'];
  console.log(
    markdownTable(
      titles,
      rows.map(({ name, cells }) => [name, ...cells]),
    ),
  );
  const failed = rows.filter(({ isRight }) => !isRight).map(({ name }) => name);
  console.log(failed.length === 0 ? 'all passed' : `failed: ${failed.join('; ')}`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}

/**
 * One server for each that the set names. They stop when their lists were read: search knows tools of servers at rest.
 * @param {import('./interop-home.mjs').Home} home
 * @param {SetTool[]} tools
 * @returns {{ tokens: number, publicNames: Map<string, string> }} the tokens of all lists; the names in the herd
 */
function startHerd(home, tools) {
  const names = [...new Set(tools.map(({ server }) => server))];
  const file = join(home.folder, 'servers.json');
  const servers = names.map((name) => ({
    name,
    tools: tools.filter(({ server }) => server === name).map(({ definition }) => definition),
  }));
  writeFileSync(file, JSON.stringify({ servers }));
  home.start({
    version: '1.0',
    daemon: { list_wait: 300, max_starting: 2 },
    security: { allowed_commands: ['node'] },
    mcp_servers: names.map((name) => ({ ...entry(name, FIXTURE, name, file), idle_timeout: 1 })),
  });
  /** @type {{ server: string, name: string, exposed_name: string }[]} */
  const listed = JSON.parse(home.toolherd('tools', '--json')).tools;
  if (listed.length !== tools.length)
    throw new Error(`the herd lists ${listed.length} of ${tools.length} tools`);
  const status = JSON.parse(home.toolherd('status', '--json'));
  const tokens = status.servers.reduce(
    (/** @type {number} */ sum, /** @type {{ tools_tokens: number }} */ server) => sum + server.tools_tokens,
    0,
  );
  const publicNames = listed.map(
    ({ server, name, exposed_name }) =>
      /** @type {[string, string]} */ ([idOf({ server, definition: { name } }), exposed_name]),
  );
  return { tokens, publicNames: new Map(publicNames) };
}

/**
 * @param {import('./interop-home.mjs').Home} home
 * @param {import('./interop-sdks.mjs').Client} client
 * @param {NamedTool[]} tools that it looks for and calls
 */
async function check(home, client, tools) {
  const opened = await home.open(client);
  try {
    const listed = await opened.tools();
    const instructions = opened.instructions?.() ?? '';
    const tokens = Math.ceil((JSON.stringify(listed).length + instructions.length) / 4);
    const names = listed.map(({ name }) => name);
    /** @type {{ isFound: boolean, isCalled: boolean }[]} */
    const tried = [];
    for (const tool of tools) tried.push(await findAndCall(opened, tool));
    const count = (/** @type {'isFound' | 'isCalled'} */ what) => tried.filter((one) => one[what]).length;
    const [found, called] = [count('isFound'), count('isCalled')];
    const isOwn = JSON.stringify(names) === JSON.stringify(OWN);
    return {
      cells: [
        isOwn ? 'four tools' : `FAILED: ${names.length} tools`,
        `${tokens}${opened.instructions === undefined ? ' (the list alone)' : ''}`,
        `${found} of ${tools.length}`,
        `${called} of ${tools.length}`,
      ],
      isRight: isOwn && tokens <= MOST_TOKENS && called === tools.length && found >= 0.9 * tools.length,
    };
  } finally {
    await opened.close();
  }
}

/**
 * Searches for a tool by the first sentence of its description, or its name where it has none, and calls it.
 * @param {Opened} opened
 * @param {NamedTool} tool
 */
async function findAndCall(opened, { definition, publicName }) {
  const [sentence] = String(definition.description ?? '')
    .trim()
    .split(/[.\n。]/);
  const query = sentence.slice(0, 200) || String(definition.name);
  const answer = await opened.call('search_tools', { query });
  const found = String(answer.content[0].text)
    .split('\n')
    .map((line) => line.split('(')[0]);
  const args = argumentsFor(definition.inputSchema);
  const called = await opened.call('call_tool', { name: publicName, arguments: args });
  const echoed = JSON.stringify({ tool: definition.name, arguments: args });
  return { isFound: found.includes(publicName), isCalled: called.content[0].text === echoed };
}

/**
 * A text for each argument that the tool needs.
 * @param {any} schema
 * @returns {Record<string, string>}
 */
function argumentsFor(schema) {
  return Object.fromEntries((schema?.required ?? []).map((/** @type {string} */ name) => [name, 'naïve ☃']));
}

/**
 * Tools from all parts of the set.
 * @template T
 * @param {T[]} all
 * @param {number} count
 */
function sample(all, count) {
  return Array.from({ length: count }, (_, at) => all[Math.floor(((at + 0.5) * all.length) / count)]);
}
