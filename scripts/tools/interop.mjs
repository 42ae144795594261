// Clients that others have made, each as published, list and call a herd through `toolherd bridge` without knowing
// it. They are installed into .cache/ on the first run. The published server is an npx entry, which toolherd runs direct.
// Usage: npm run interop [-- --update] [--only mcporter]; --update writes the table of docs/INTEROP.md.
// `npm run interop:search -- --data DIR` has them find and call tools of a large herd by search.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { markdownTable } from '../shared/markdown.mjs';
import { entry, makeHome } from './interop-home.mjs';
import { CLIENTS } from './interop-sdks.mjs';

const root = join(import.meta.dirname, '..', '..');
const { values: flags } = parseArgs({
  options: { update: { type: 'boolean', default: false }, only: { type: 'string' } },
});

/** @typedef {import('./interop-sdks.mjs').Client} Client */
/** @typedef {import('./interop-sdks.mjs').Opened} Opened */
/** @typedef {{ tools: any[], prompts: any[], resources: any[] }} Offered */

/**
 * The cells of the table, in order. Each throws what is wrong; undefined means that the client has no such thing.
 * @type {Record<string, (client: Opened, offered: Offered) => Promise<string | undefined>>}
 */
const CHECKS = {
  speaks: async (client) => client.speaks(),
  tools: async (client, offered) => count(await client.tools(), offered.tools, 'name', 'exposed_name'),
  text: async (client) => {
    const { content } = await client.call('everything__echo', { message: 'naïve ☃' });
    return expect(content[0].text === 'Echo: naïve ☃', content);
  },
  error: async (client) => {
    const { content, isError } = await client.call('content__fails', {});
    return expect(isError === true && content[0].text === 'no such row', { content, isError });
  },
  structured: async (client) => {
    const result = await client.call('everything__get-structured-content', { location: 'Chicago' });
    return expect(typeof result.structuredContent?.temperature === 'number', result);
  },
  image: async (client) => {
    const { content } = await client.call('everything__get-tiny-image', {});
    const image = content.find((/** @type {{ type: string }} */ { type }) => type === 'image');
    return expect(image?.mimeType === 'image/png' && image.data.startsWith('iVBORw0KGgo'), content);
  },
  '2026 server': async (client) => {
    const { content } = await client.call('modern__echo', { value: 'across' });
    return expect(content[0].text === 'across', content);
  },
  resources: async (client, offered) => {
    const seen = count(await client.resources(), offered.resources, 'uri', 'uri');
    const { contents } = await client.read('demo://resource/static/document/features.md');
    expect(contents[0].text.includes('Features'), contents);
    return seen;
  },
  prompts: async (client, offered) => {
    if (client.prompts === undefined || client.get === undefined) return undefined;
    const seen = count(await client.prompts(), offered.prompts, 'name', 'exposed_name');
    const { messages } = await client.get('everything__args-prompt', { city: 'Ghent' });
    expect(JSON.stringify(messages).includes('Ghent'), messages);
    return seen;
  },
};

const home = makeHome();
/** @type {{ client: Client, cells: Record<string, string> }[]} */
const rows = [];
try {
  const offered = startHerd();
  for (const client of CLIENTS) {
    if (flags.only !== undefined && !client.name.includes(flags.only)) continue;
    const row = { client, cells: await check(client, offered) };
    rows.push(row);
    console.log(`${client.name} (${client.package})`);
    for (const [what, cell] of Object.entries(row.cells)) console.log(`  ${what.padEnd(14)} ${cell}`);
  }
} finally {
  home.end();
}
if (flags.update && flags.only === undefined) writeFileSync(join(root, 'docs', 'INTEROP.md'), page());
const failed = rows.filter(({ cells }) => Object.values(cells).some((cell) => cell.startsWith('FAILED')));
console.log(
  failed.length === 0 ? 'all passed' : `failed: ${failed.map(({ client }) => client.name).join('; ')}`,
);
process.exitCode = failed.length === 0 ? 0 : 1;

function startHerd() {
  const modules = join(root, 'node_modules');
  const published = '@modelcontextprotocol/server-everything';
  const { version } = JSON.parse(readFileSync(join(modules, published, 'package.json'), 'utf8'));
  home.start({
    version: '1.0',
    security: { allowed_commands: ['node'] },
    mcp_servers: [
      { ...entry('everything', '-y', `${published}@${version}`), command: 'npx' },
      entry('content', join(root, 'test', 'fixtures', 'content.mjs')),
      entry('modern', join(root, 'test', 'fixtures', 'modern.mjs')),
    ],
  });
  home.toolherd('start', 'everything', '--wait');
  const [{ runner }] = JSON.parse(home.toolherd('status', 'everything', '--json')).servers;
  if (runner !== 'direct') throw new Error(`toolherd does not run ${published} direct: ${runner}`);
  const all = (/** @type {string} */ what) => JSON.parse(home.toolherd(what, '--json'))[what];
  return { tools: all('tools'), prompts: all('prompts'), resources: all('resources') };
}

/**
 * @param {Client} client
 * @param {Offered} offered
 * @returns {Promise<Record<string, string>>}
 */
async function check(client, offered) {
  const cells = Object.fromEntries(Object.keys(CHECKS).map((what) => [what, '']));
  /** @type {Opened} */
  let opened;
  try {
    opened = await home.open(client);
  } catch (error) {
    return { ...cells, speaks: `FAILED: ${home.firstLine(error)}` };
  }
  for (const [what, look] of Object.entries(CHECKS)) {
    try {
      cells[what] = (await look(opened, offered)) ?? 'has none';
    } catch (error) {
      cells[what] = `FAILED: ${home.firstLine(error)}`;
    }
  }
  await opened.close();
  return cells;
}

/**
 * The client has to see everything that is offered, and nothing else.
 * @param {any[]} seen
 * @param {any[]} offered
 * @param {string} key
 * @param {string} offeredKey
 */
function count(seen, offered, key, offeredKey) {
  const [names, wanted] = [new Set(seen.map((one) => one[key])), offered.map((one) => one[offeredKey])];
  const missing = wanted.filter((name) => !names.has(name));
  expect(missing.length === 0 && seen.length === wanted.length, { seen: seen.length, missing });
  return `${seen.length} of ${wanted.length}`;
}

/**
 * @param {boolean} isRight
 * @param {unknown} shown
 */
function expect(isRight, shown) {
  if (!isRight) throw new Error(`it showed ${JSON.stringify(shown)?.slice(0, 200)}`);
  return 'yes';
}

function page() {
  const date = new Date().toISOString().slice(0, 10);
  const titles = Object.keys(CHECKS);
  const lines = [
    '# Interop',
    '',
    'Published clients, unchanged, list and call a herd through `toolherd bridge`. None of them has code for toolherd. The herd has',
    'server-everything as published (an npx entry, which toolherd runs without npx), a fixture with every kind of content, and a',
    'server that speaks only MCP 2026-07-28 (column `2026 server`: a call to it). The Inspector and mcporter are commands with a',
    'config file that names the bridge; they connect again for each request. `legacy`, `auto` and `modern` are the names that the',
    'clients give to their modes.',
    '',
    `Written by \`npm run interop -- --update\`, ${date}.`,
    '',
    markdownTable(
      ['client', 'package', ...titles],
      rows.map(({ client, cells }) => [
        client.name,
        `\`${client.package}\``,
        ...titles.map((what) => cells[what] ?? ''),
      ]),
    ),
    '',
    '`N of M`: listed of offered; the client also read one of the resources and got one of the prompts. `text`, `error`,',
    '`structured`, `image`: the client showed the answer of a tool correctly. `has none`: the client has no command for it.',
    '',
  ];
  return lines.join('\n');
}
