// Results as tables.
import { markdownTable as table } from '../../scripts/shared/markdown.mjs';
import { checkGoals } from './goals.mjs';

const MB = 1e6;
const DIRECT = 'SDK, own child';
const number = (/** @type {number | null | undefined} */ value, digits = 2) =>
  value === undefined || value === null || Number.isNaN(value) ? '' : value.toFixed(digits);
const whole = (/** @type {number | undefined} */ value) =>
  value === undefined ? '' : Math.round(value).toLocaleString('en');
const megabytes = (/** @type {number | undefined} */ value) => (value ? (value / MB).toFixed(1) : '');

/** @param {Record<string, any>} results */
export function goalsTable(results) {
  const rows = checkGoals(results).map(({ what, goal, measured, verdict }) => [
    what,
    goal,
    measured,
    verdict,
  ]);
  return table(['', 'goal', 'measured', ''], rows);
}

/** When, how, and on what. */
export function circumstances(/** @type {Bench.Results} */ { run }) {
  return (
    `${run.date}, \`${run.command}\`, ${Math.round(run.seconds / 60)} min; Node ${run.node}, ${run.cores} cores (${run.platform}), ` +
    `load average ${run.load.start.toFixed(2)} at the start and ${run.load.end.toFixed(2)} at the end (this run's own work is in it)`
  );
}

/** @type {Record<string, (results: Record<string, any>) => string | undefined>} */
const sections = {
  'One call after the other, 100 bytes': ({ sequential: s }) =>
    s &&
    table(
      ['', 'p50 ms', 'p99 ms', 'p50 × relay', 'p50 × SDK', 'p99 × SDK', 'early p50 ms', '× relay', '× SDK'],
      Object.entries(s).map(([name, { p50, p99, early }]) => [
        name,
        number(p50, 3),
        number(p99, 3),
        number(p50 / s.relay.p50),
        number(p50 / s[DIRECT].p50),
        number(p99 / s[DIRECT].p99),
        number(early, 3),
        number(early / s.relay.early),
        number(early / s[DIRECT].early),
      ]),
    ),
  '64 calls in flight, calls a second': ({ throughput: t }) =>
    t &&
    table(
      ['', 'one server', '× relay', '× SDK', 'eight servers', '× relay', '× SDK'],
      Object.keys(t.one).map((name) => [
        name,
        ...[t.one, t.eight].flatMap((all) => [
          whole(all[name]),
          number(all[name] / all.relay),
          number(all[name] / all[DIRECT]),
        ]),
      ]),
    ),
  'Large results': ({ large }) => large && largeTable(large),
  'What the daemon grows by while they pass': ({ large }) => {
    const rows = Object.entries(large ?? {}).filter(([, { memory }]) => memory?.peak);
    if (rows.length === 0) return undefined;
    return table(
      ['result', 'before, MB', 'peak, MB', 'growth over the message, MB'],
      rows.map(
        ([
          size,
          {
            memory: { before, peak },
          },
        ]) => [
          sizeName(size),
          number(before / MB, 1),
          number(peak / MB, 1),
          number((peak - before - Number(size)) / MB, 1),
        ],
      ),
    );
  },
  'Small calls while large results pass': ({ beside: b }) =>
    b &&
    table(
      [
        `beside ${sizeName(b.size)}`,
        'alone p50 ms',
        'alone p99 ms',
        'beside p50 ms',
        'beside p99 ms',
        'slowest ms',
        'p99, beside / alone',
      ],
      Object.entries(b.systems).map(([name, { alone, beside }]) => [
        name,
        ...[alone.p50, alone.p99, beside.p50, beside.p99].map((value) => number(value, 3)),
        number(beside.max, 1),
        number(beside.p99 / alone.p99),
      ]),
    ),
  'The command': ({ command: c }) =>
    c &&
    table(
      ['', 'ms', '× `node -e 0`', '× bare script'],
      Object.entries(c).map(([name, ms]) => [
        `\`${name}\``,
        number(ms, 1),
        number(ms / c['node -e 0']),
        number(ms / c['a bare script']),
      ]),
    ),
  'A herd starts, ms (× raw children)': ({ herdStart: h }) =>
    h &&
    bySize(
      h,
      (/** @type {number} */ ms, /** @type {any} */ all) =>
        `${whole(ms)} (${number(ms / all['raw children'])})`,
    ),
  'A server that npx runs, started before': ({ npx: n }) =>
    n &&
    table(
      ['', 'start to list, ms', '× `node BIN`', 'MB, proportional', '× `node BIN`'],
      Object.entries(n).map(([name, { ms, pss }]) => [
        `\`${name}\``,
        whole(ms),
        number(ms / n['node BIN'].ms),
        megabytes(pss),
        number(pss / n['node BIN'].pss),
      ]),
    ),
  'A herd of servers that npx runs: start to the list of all tools, ms': ({ npxHerd: h }) =>
    h && bySize(h, (/** @type {{ ms: number }} */ { ms }) => whole(ms)),
  'The same: MB of the whole tree, proportional': ({ npxHerd: h }) =>
    h && bySize(h, (/** @type {{ pss: number }} */ { pss }) => megabytes(pss)),
  'An agent attaches': ({ attach: a }) =>
    a &&
    table(
      [`${a.count} cold servers, lists from the cache`, 'ms'],
      [
        ['the first agent of a daemon', number(a.first, 1)],
        ['later ones', number(a.later, 1)],
      ],
    ),
  'Memory of the daemon itself, by servers: MB resident (proportional)': ({ memory: m }) =>
    m &&
    bySize(
      m,
      (/** @type {{ rss: any, pss: any }} */ { rss, pss }) => `${megabytes(rss)} (${megabytes(pss)})`,
    ),
  'Shared against separate': ({ shared: s }) =>
    s &&
    table(
      [`${s.agents} agents × ${s.count} servers`, 'processes', 'MB, proportional', '', 'MB, resident', ''],
      Object.entries({
        separate: 'each with its own',
        shared: 'toolherd, over the socket',
        bridged: 'toolherd, each by a `bridge`',
      }).map(([name, label]) => [
        label,
        String(s[name].processes),
        megabytes(s[name].pss),
        number(s[name].pss / s.separate.pss, 3),
        megabytes(s[name].rss),
        number(s[name].rss / s.separate.rss, 3),
      ]),
    ),
  'After SIGKILL in the middle of a call': ({ recovery: r }) =>
    r &&
    table(
      [
        `the server's own boot: ${number(r.boot, 1)} ms`,
        'error to the caller, ms',
        'next success, ms',
        'over the boot, ms',
      ],
      Object.entries(r.systems).map(([name, { error, back, overBoot }]) => [
        name,
        error === null ? 'none in 5 s' : number(error, 1),
        back === null ? 'never' : number(back, 1),
        number(overBoot, 1),
      ]),
    ),
  'A process for each call': ({ transient: t }) =>
    t &&
    table(
      ['', 'ms', '× singleton'],
      Object.entries(t).map(([name, ms]) => [name, number(ms, 2), number(ms / t.singleton)]),
    ),
  'Fan-out': ({ fanOut: f }) =>
    f &&
    table(
      [`${whole(f.calls)} calls at once, 8 servers`, 'ms', '× relay'],
      Object.entries(f.ms).map(([name, ms]) => [name, number(ms, 1), number(ms / f.ms.relay)]),
    ),
  'Another node of a cluster': ({ cluster: c }) =>
    c &&
    table(
      ['', 'p50 ms', '64 in flight, calls a second', '1,000 calls at once, ms', `${c.large.mb} MB, ms`],
      [
        ['a bare request of NATS', number(c.p50.request, 3), whole(c.rate.request), '', ''],
        [
          'servers of this node',
          ...[number(c.p50.own, 3), whole(c.rate.own)],
          ...[number(c.fanOut.own, 1), whole(c.large.own)],
        ],
        [
          'a server of another node (1,000 calls: over three nodes)',
          ...[number(c.p50.other, 3), whole(c.rate.other)],
          ...[number(c.fanOut.cluster, 1), whole(c.large.other)],
        ],
      ],
    ),
  'A million calls': ({ million: m }) =>
    m &&
    table(
      [`${whole(m.calls)} calls in ${whole(m.seconds)} s`, 'before', 'after'],
      [
        ['heap after a collection, MB', megabytes(m.before.heap), megabytes(m.after.heap)],
        ['resident, MB', megabytes(m.before.rss), megabytes(m.after.rss)],
        ['file descriptors', String(m.before.fds), String(m.after.fds)],
        ['timers', String(m.before.timers), String(m.after.timers)],
      ],
    ),
};

export function sizeName(/** @type {number | string} */ size) {
  const bytes = Number(size);
  if (bytes >= MB) return `${bytes / MB} MB`;
  return bytes >= 1000 ? `${bytes / 1000} kB` : `${bytes} B`;
}

function largeTable(/** @type {Record<string, any>} */ large) {
  const names = [
    ...new Set(
      Object.values(large).flatMap(({ ms, without }) => [...Object.keys(ms), ...Object.keys(without)]),
    ),
  ];
  const cell = (
    /** @type {{ ms: Record<string, number>, without: Record<string, string> }} */ { ms, without },
    /** @type {string} */ name,
  ) => {
    if (without[name]) return /clos/.test(without[name]) ? 'closed' : 'failed';
    return ms[name] === undefined
      ? ''
      : `${number(ms[name], ms[name] < 10 ? 3 : 0)} (${number(ms[name] / ms['raw pipe'])})`;
  };
  return table(
    ['ms (× raw pipe)', ...Object.keys(large).map(sizeName)],
    names.map((name) => [name, ...Object.values(large).map((row) => cell(row, name))]),
  );
}

/** Rows are systems, columns herds. */
function bySize(
  /** @type {Record<string, any>} */ sizes,
  /** @type {(value: any, all: any) => string} */ show,
) {
  const names = [...new Set(Object.values(sizes).flatMap(Object.keys))];
  return table(
    ['servers', ...Object.keys(sizes)],
    names.map((name) => [
      name,
      ...Object.values(sizes).map((all) => (all[name] ? show(all[name], all) : '')),
    ]),
  );
}

export function fullTables(/** @type {Bench.Results} */ results) {
  return Object.entries(sections)
    .map(([title, of]) => [title, of(results)])
    .filter(([, body]) => body !== undefined)
    .map(([title, body]) => `### ${title}\n\n${body}`)
    .join('\n\n');
}

export function leftOut(/** @type {Bench.Results} */ { run }) {
  const lines = Object.entries(run.without ?? {}).map(([name, reason]) => `- ${name}: ${reason}`);
  return lines.length === 0 ? '' : `Left out:\n\n${lines.join('\n')}`;
}
