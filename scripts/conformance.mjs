// Runs the official conformance scenarios for clients against toolherd's upstream side, and writes the table of
// docs/CONFORMANCE.md. The suite and the Node it needs are installed into .cache/ on the first run.
// Usage: npm run conformance [-- --spec 2025-11-25] [--only auth/] [--jobs 2] [--verbose]
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const cache = join(root, '.cache', 'conformance');
const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12';
const SPECS = ['2025-11-25', '2026-07-28'];
const { values: flags } = parseArgs({
  options: {
    spec: { type: 'string' },
    only: { type: 'string' },
    jobs: { type: 'string', default: '2' },
    verbose: { type: 'boolean', default: false },
  },
});

/** Scenarios that cannot pass, each with the reason. Everything else has to. */
const EXCUSED = {};

const node = join(cache, 'node_modules', 'node', 'bin', 'node');
const suite = join(cache, 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js');
const client = join(cache, 'client.mjs');
const results = join(cache, 'results');

install();
await bundle();
rmSync(results, { recursive: true, force: true });
const rows = [];
for (const spec of flags.spec === undefined ? SPECS : [flags.spec]) {
  const scenarios = scenariosOf(spec).filter((name) => flags.only === undefined || name.includes(flags.only));
  const queue = [...scenarios];
  const work = async () => {
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      const row = await run(name, spec);
      rows.push(row);
      console.log(
        `${spec}  ${row.failed.length === 0 ? 'ok    ' : 'FAILED'}  ${row.passed}/${row.total}  ${name}`,
      );
      for (const check of row.failed) console.log(`    ${check}`);
    }
  };
  await Promise.all(Array.from({ length: Number(flags.jobs) }, work));
}
rows.sort((a, b) => a.spec.localeCompare(b.spec) || a.name.localeCompare(b.name));
if (flags.only === undefined && flags.spec === undefined) {
  writeFileSync(join(root, 'docs', 'CONFORMANCE.md'), page());
}
for (const spec of SPECS) console.log(summary(spec));
process.exitCode = rows.some(({ name, failed }) => failed.length > 0 && EXCUSED[name] === undefined) ? 1 : 0;

function install() {
  if (existsSync(suite) && existsSync(node)) return;
  mkdirSync(cache, { recursive: true });
  writeFileSync(join(cache, 'package.json'), '{ "private": true }\n');
  const options = { cwd: cache, stdio: 'inherit' };
  execFileSync('npm', ['install', '--no-save', SUITE, 'node@24', '--foreground-scripts'], options);
  // the package's own install step puts the binary of this platform in place
  if (!existsSync(node))
    execFileSync(process.execPath, ['node_modules/node/installArchSpecificPackage.js'], options);
}

async function bundle() {
  await build({
    entryPoints: [join(root, 'test', 'conformance', 'client.ts')],
    outfile: client,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    logLevel: 'warning',
  });
}

/** The scenarios of the protocol itself that this version of it has; extensions are nobody's duty. */
function scenariosOf(spec) {
  const list = execFileSync(node, [suite, 'list'], { encoding: 'utf8' });
  const clients = list.slice(
    list.indexOf('Client scenarios'),
    list.indexOf('Authorization server scenarios'),
  );
  return [...clients.matchAll(/^ {2}- (\S+) \[(.+)\]$/gm)]
    .filter(([, , versions]) => versions.split(',').includes(spec))
    .map(([, name]) => name);
}

async function run(name, spec) {
  const folder = join(results, spec, name.replaceAll('/', '-'));
  mkdirSync(folder, { recursive: true });
  const args = [suite, 'client', '--command', `${process.execPath} ${client}`, '--scenario', name];
  const child = spawn(node, [...args, '--spec-version', spec, '--timeout', '60000', '-o', folder], {
    cwd: folder,
    stdio: flags.verbose ? 'inherit' : 'ignore',
  });
  await new Promise((resolve) => child.on('exit', resolve));
  const checks = readdirSync(folder, { recursive: true })
    .filter((file) => file.endsWith('checks.json'))
    .flatMap((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')));
  const counted = checks.filter(({ status }) => status === 'SUCCESS' || status === 'FAILURE');
  const failed = counted.filter(({ status }) => status === 'FAILURE');
  return {
    name,
    spec,
    total: counted.length,
    passed: counted.length - failed.length,
    failed:
      counted.length === 0
        ? ['no check was made']
        : failed.map(({ id, errorMessage }) => `${id}: ${errorMessage ?? ''}`),
  };
}

function summary(spec) {
  const mine = rows.filter((row) => row.spec === spec);
  const passed = mine.reduce((sum, row) => sum + row.passed, 0);
  const total = mine.reduce((sum, row) => sum + row.total, 0);
  const whole = mine.filter(({ failed }) => failed.length === 0).length;
  return `${spec}: ${passed} of ${total} checks, ${whole} of ${mine.length} scenarios`;
}

function page() {
  const date = new Date().toISOString().slice(0, 10);
  const lines = [
    '# Conformance',
    '',
    `The official client scenarios (\`${SUITE}\`) against toolherd's upstream side: the suite plays the server, and`,
    'test/conformance/client.ts is a herd of one remote server that is asked to list and call.',
    '',
    `Written by \`npm run conformance\`, ${date}.`,
    '',
    ...SPECS.map((spec) => `- ${summary(spec)}`),
    '',
    '| version | scenario | checks | |',
    '|---|---|---|---|',
    ...rows.map(({ spec, name, passed, total, failed }) => {
      const why = failed.length === 0 ? '' : (EXCUSED[name] ?? `FAILED: ${failed.join('; ')}`);
      return `| ${spec} | ${name} | ${passed} of ${total} | ${why} |`;
    }),
    '',
  ];
  return lines.join('\n');
}
