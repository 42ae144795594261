// Makes the pictures of docs/DASHBOARD.md from a real herd in a real browser: docs/dashboard/*.png.
// Usage: npm run screenshots [-- FOLDER]   With a folder: every page, light and dark, to look at.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { launchBrowser } from '../shared/browser.mjs';

const root = join(import.meta.dirname, '..', '..');
const command = join(root, 'dist', 'bin', 'main.cjs');
const all = process.argv[2];
const folder = resolve(all ?? join(root, 'docs', 'dashboard'));
const SIZE = { width: 1280, height: 800 };
const CALLS = 60;

/** Address, and what is there when the page is complete. The first two are in the docs. */
const PAGES = {
  herd: ['#/herd', '.day-chart canvas, .uplot canvas'],
  server: ['#/server/everything', '.charts svg'],
  tool: ['#/server/everything?tab=tools&tool=get-sum', 'form.try'],
  prompts: ['#/server/everything?tab=prompts', '.entries li'],
  resources: ['#/server/everything?tab=resources', '.entries li'],
  log: ['#/server/search?tab=logs', '.log-line'],
  pins: ['#/server/everything?tab=pins', '.tab-panel .card'],
  spec: ['#/server/everything?tab=spec', 'dl.spec'],
  broken: ['#/server/search', '.why .error-box'],
  agents: ['#/agents', '.agents tbody tr'],
  calls: ['#/calls', '.call-list tbody tr'],
  cluster: ['#/cluster', '.empty'],
  config: ['#/config', '.card-body'],
  registry: ['#/registry', 'form'],
};
const IN_DOCS = ['herd light', 'herd dark', 'server light'];

const npm = (/** @type {string} */ name) =>
  join(root, 'node_modules', '@modelcontextprotocol', name, 'dist', 'index.js');
const home = mkdtempSync(join(tmpdir(), 'toolherd-screenshots-'));
const notes = join(home, 'notes');
mkdirSync(notes);
for (const name of ['ideas', 'journal']) writeFileSync(join(notes, `${name}.md`), `# ${name}\n`);
writeFileSync(
  join(home, 'search-server.mjs'),
  'console.error("the index is locked by another process"); process.exit(1);\n',
);
/** The last one fails: a herd has something that needs attention. */
const servers = [
  { name: 'everything', args: [npm('server-everything'), 'stdio'] },
  { name: 'files', args: [npm('server-filesystem'), notes] },
  { name: 'memory', args: [npm('server-memory')] },
  { name: 'search', args: ['search-server.mjs'], cwd: home, max_restarts: 0 },
];
writeFileSync(
  join(home, 'config.yaml'),
  JSON.stringify(
    {
      version: '1.0',
      security: { allowed_commands: ['node'] },
      mcp_servers: servers.map((one) => ({
        description: one.name,
        server: one.name,
        command: 'node',
        ...one,
      })),
    },
    null,
    2,
  ),
);
const env = { PATH: process.env.PATH ?? '', HOME: home, TOOLHERD_HOME: home };
const toolherd = (/** @type {string[]} */ ...args) =>
  execa(process.execPath, [command, ...args], { env, extendEnv: false, cwd: home, reject: false });

/** In some of them the tool reports an error. */
async function makeCalls() {
  const list = (/** @type {string} */ path) => ['files.list_directory', JSON.stringify({ path })];
  const kinds = [
    ['everything.echo', '{"message":"hello"}'],
    ['everything.get-sum', '{"a":2,"b":3}'],
    ['memory.read_graph', '{}'],
    list(notes),
    list('/nowhere'),
  ];
  for (let index = 0; index < CALLS; index += 5) {
    await Promise.all(
      kinds
        .slice(0, index % 15 === 0 ? 5 : 4)
        .map(([tool = '', args = '{}']) => toolherd('call', tool, '--args', args)),
    );
  }
}

const browser = await launchBrowser();
try {
  await toolherd('up');
  await toolherd('start', '--all', '--wait');
  await makeCalls();
  mkdirSync(folder, { recursive: true });
  for (const theme of /** @type {const} */ (['light', 'dark'])) {
    const window = await browser.newContext({ viewport: SIZE, colorScheme: theme });
    const page = await window.newPage();
    const { stdout } = await toolherd('ui', '--json');
    await page.goto(JSON.parse(stdout).url);
    for (const [name, [address = '', selector = '']] of Object.entries(PAGES)) {
      if (all === undefined && !IN_DOCS.includes(`${name} ${theme}`)) continue;
      await page.evaluate(`location.hash = ${JSON.stringify(address)}`);
      await page.locator(selector).first().waitFor();
      // the curves are drawn in the next frames
      await page.waitForTimeout(500);
      await page.screenshot({ path: join(folder, `${name}-${theme}.png`) });
    }
    await window.close();
  }
} finally {
  await browser.close();
  await toolherd('down');
  rmSync(home, { recursive: true, force: true });
}
