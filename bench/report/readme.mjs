// The tables of README.md: the numbers of one run, rounded for a reader in a hurry.
import { replaceRegion, markdownTable as table } from '../../scripts/shared/markdown.mjs';

const DIRECT = 'SDK, own child';
const SOCKET = 'toolherd, socket';
/** The columns, each with the system it shows. The library and the bridge are not columns of their own. */
const COLUMNS = {
  toolherd: SOCKET,
  mcporter: 'mcporter',
  'mcp-hub': 'mcp-hub',
  mcpc: 'mcpc',
  'no daemon (TypeScript SDK)': DIRECT,
};

const gigabytes = (/** @type {number} */ bytes) => `${(bytes / 1e9).toFixed(1)} GB`;
const whole = (/** @type {number} */ value) => Math.round(value).toLocaleString('en');
const thousands = (/** @type {number} */ value) => whole(Math.round(value / 1000) * 1000);
const hundreds = (/** @type {number} */ value) =>
  value < 2000 ? whole(Math.round(value / 100) * 100) : thousands(value);
const digits = (/** @type {number} */ count) => (/** @type {number} */ value) => value.toFixed(count);

/** With and without a herd. */
function sharedTable(/** @type {Record<string, any>} */ { shared, recovery, run }) {
  const { agents, count, separate, bridged, shared: direct } = shared;
  const { error, back } = recovery.systems[SOCKET];
  const row = (/** @type {string} */ label, /** @type {any} */ sum, /** @type {string} */ crash) => [
    label,
    String(sum.processes),
    gigabytes(sum.rss),
    crash,
  ];
  const restarts = 'toolherd starts it again';
  const rows = [
    row(
      'each agent starts its own servers',
      separate,
      "a client of MCP's TypeScript SDK gets an error, and does not start it again",
    ),
    row('agents attached to toolherd (each runs `toolherd bridge`)', bridged, restarts),
    row(
      "programs on toolherd's socket",
      direct,
      `${restarts}: an error after ${whole(error)} ms, the next answer after ${whole(back)} ms`,
    ),
  ];
  return [
    table(
      [`${agents} agents, ${count} servers`, 'processes', 'memory (resident)', 'after a server crashes'],
      rows,
    ),
    '',
    `The ${bridged.processes} processes are ${count} servers, ${agents} bridges, the daemon, and a watchdog that ends the servers if the daemon is killed.`,
    `Measured on ${run.date} ([benchmarks](docs/BENCHMARKS.md#shared-against-separate), also with proportional sizes).`,
  ].join('\n');
}

/** Beside other programs. */
function comparisonTable(/** @type {Record<string, any>} */ results) {
  const { sequential, throughput, herdStart, npxHerd, memory, large, command, recovery } = results;
  const bridge = 'toolherd, bridge with SDK';
  const p50 = Object.fromEntries(Object.entries(sequential).map(([name, { p50: ms }]) => [name, ms]));
  const rss = Object.fromEntries(Object.entries(memory[20]).map(([name, size]) => [name, size.rss / 1e6]));
  const of = (/** @type {string} */ key) =>
    Object.fromEntries(Object.entries(recovery.systems).map(([name, outcome]) => [name, outcome[key]]));
  const fifty = large[50_000_000];
  const rows = [
    numbers('one call after the other, median ms', p50, digits(2), { also: p50[bridge] }),
    numbers('calls a second, 64 in flight', throughput.one, hundreds, {
      also: throughput.one[bridge],
      more: true,
    }),
    numbers('20 servers started, ms', herdStart[20], whole),
    ...(npxHerd?.[20] === undefined
      ? []
      : [
          numbers('20 real servers by `npx` started, ms', valuesOf(npxHerd[20], 'ms'), whole),
          numbers('their memory, all processes, MB', valuesOf(npxHerd[20], 'pss', 1e6), whole),
        ]),
    numbers('own memory with 20 servers, MB', rss, whole),
    numbers('50 MB result, ms', fifty.ms, whole, { failed: fifty.without }),
    numbers('one call from the shell, ms', suffixed(command, ' call'), whole),
    numbers("error after a server's SIGKILL, ms", of('error'), digits(1)),
    numbers('next success after it, ms', of('back'), whole),
  ];
  return table(['', ...Object.keys(COLUMNS)], rows);
}

const valuesOf = (/** @type {Record<string, any>} */ systems, /** @type {'ms' | 'pss'} */ field, unit = 1) =>
  Object.fromEntries(Object.entries(systems).map(([name, values]) => [name, values[field] / unit]));

/** What toolherd makes of an entry with `npx`. */
function npxText(/** @type {Record<string, any>} */ { npx, npxHerd }) {
  if (npx === undefined || npxHerd === undefined) return '';
  const { npx: plain, 'toolherd, npx': direct } = npx;
  const size = (/** @type {number} */ bytes) => `${whole(bytes / 1e6)} MB`;
  return [
    '## Servers that npx starts',
    '',
    `Most servers are started with \`npx\`. By \`npx\` server-memory takes ${whole(plain.ms)} ms and ${size(plain.pss)}, under toolherd ` +
      `${whole(direct.ms)} ms and ${size(direct.pss)}: toolherd installs the package once and runs it without \`npx\` ([how](docs/PACKAGES.md)).`,
    '',
    '![Start of a herd of servers that npx runs](docs/bench/npx-start.svg)',
    '![Memory of a herd of servers that npx runs](docs/bench/npx-memory.svg)',
  ].join('\n');
}

/**
 * One row; the best number is bold. `also` is the number through the bridge, `failed` why a system has none.
 * @param {string} label
 * @param {Record<string, number | null>} values
 * @param {(value: number) => string} show
 * @param {{ also?: number, more?: boolean, failed?: Record<string, string> }} [options]
 */
function numbers(label, values, show, { also, more = false, failed = {} } = {}) {
  const numberOf = (/** @type {string} */ name) =>
    values[name] ?? (name === SOCKET ? values.toolherd : undefined);
  const known = Object.values(COLUMNS)
    .map(numberOf)
    .filter((value) => typeof value === 'number');
  const best = more ? Math.max(...known) : Math.min(...known);
  const cells = Object.values(COLUMNS).map((name) => {
    const value = numberOf(name);
    if (failed[name] !== undefined) return /clos/.test(failed[name]) ? 'connection closed' : 'failed';
    if (values[name] === null) return 'never';
    if (value === undefined || value === null) return '–';
    const text = value === best ? `**${show(value)}**` : show(value);
    return name === SOCKET && also !== undefined ? `${text} (${show(also)} through \`bridge\`)` : text;
  });
  return [label, ...cells];
}

/** The rows `NAME call` of a table of commands, by NAME. */
function suffixed(/** @type {Record<string, number>} */ all, /** @type {string} */ suffix) {
  const rows = Object.entries(all).filter(([name]) => name.endsWith(suffix));
  return Object.fromEntries(rows.map(([name, value]) => [name.slice(0, -suffix.length), value]));
}

/**
 * README.md with the tables of these results.
 * @param {string} page
 * @param {Record<string, any>} results
 */
export function renderReadme(page, results) {
  const tables = { shared: sharedTable, npx: npxText, comparison: comparisonTable };
  return Object.entries(tables).reduce(
    (written, [name, of]) => replaceRegion(written, name, of(results)),
    page,
  );
}
