// The goals, and what a run says of each.

const MB = 1e6;
const MIB = 1024 * 1024;
const DIRECT = 'SDK, own child';
const SOCKET = 'toolherd, socket';
const FLEET_CALL = 'toolherd, fleet/call';
const LIBRARY = 'toolherd, library';
const BRIDGE = 'toolherd, bridge with SDK';

const most = (/** @type {number} */ limit) => ({
  text: `≤ ${limit}`,
  holds: (/** @type {number} */ value) => value <= limit,
});
const least = (/** @type {number} */ limit) => ({
  text: `≥ ${limit}`,
  holds: (/** @type {number} */ value) => value >= limit,
});
const ratio = (/** @type {number} */ value) => value.toFixed(2);
const ms = (/** @type {number} */ value) => `${value.toFixed(1)} ms`;
const megabytes = (/** @type {number} */ value) => `${(value / MB).toFixed(1)} MB`;

/**
 * `of`: the number from the results; undefined where it was not measured.
 * @typedef {object} Goal
 * @property {string} what
 * @property {{ text: string, holds(value: any): boolean }} goal
 * @property {(results: any) => any} of
 * @property {(value: any) => string} [show]
 */
/** @type {Goal[]} */
const goals = [
  {
    what: 'sequential p50, socket, against the minimal relay with its servers in sessions, as toolherd has them',
    goal: most(1.15),
    of: ({ sequential: s }) => s && s[SOCKET].p50 / s['relay, servers in sessions'].p50,
  },
  {
    what: 'sequential p50, `fleet/call`, against the socket',
    goal: most(1.15),
    of: ({ sequential: s }) => s && s[FLEET_CALL].p50 / s[SOCKET].p50,
  },
  {
    what: 'sequential p50, library, against the socket',
    goal: most(1.35),
    of: ({ sequential: s }) => s && s[LIBRARY].p50 / s[SOCKET].p50,
  },
  {
    what: 'sequential p50, socket, against the direct SDK client',
    goal: most(1.45),
    of: ({ sequential: s }) => s && s[SOCKET].p50 / s[DIRECT].p50,
  },
  ...[
    { whom: 'the minimal relay', limit: 1.1, name: 'relay' },
    { whom: 'the direct SDK client', limit: 1.45, name: DIRECT },
  ].map(({ whom, limit, name }) => ({
    what: `the same of the first calls (early), against ${whom}`,
    goal: most(limit),
    of: (/** @type {{ sequential: any }} */ { sequential: s }) =>
      s?.relay.early && s[SOCKET].early / s[name].early,
  })),
  {
    what: 'p99 against the direct SDK client',
    goal: most(1.5),
    of: ({ sequential: s }) => s && s[SOCKET].p99 / s[DIRECT].p99,
  },
  {
    what: '64 in flight, one server, against the minimal relay',
    goal: least(0.95),
    of: ({ throughput: t }) => t && t.one[SOCKET] / t.one.relay,
  },
  ...[
    { way: '`fleet/call`', name: FLEET_CALL, floor: 'relay', against: 'the minimal relay' },
    { way: 'library', name: LIBRARY, floor: 'relay', against: 'the minimal relay' },
    {
      way: 'bridge with SDK',
      name: BRIDGE,
      floor: 'SDK, relay',
      against: "the SDK client on the relay's socket",
    },
  ].map(({ way, name, floor, against }) => ({
    what: `64 in flight, one server, ${way}, against ${against}`,
    goal: least(0.8),
    of: (/** @type {{ throughput: any }} */ { throughput: t }) => t && t.one[name] / t.one[floor],
  })),
  {
    what: '64 in flight over 8 servers, against the minimal relay',
    goal: least(0.95),
    of: ({ throughput: t }) => t && t.eight[SOCKET] / t.eight.relay,
  },
  ...[10, 50].map((size) => ({
    what: `${size} MB result, against the raw pipe`,
    goal: most(2),
    of: (/** @type {{ large: any }} */ { large: l }) =>
      l?.[size * MB] && l[size * MB].ms[SOCKET] / l[size * MB].ms['raw pipe'],
  })),
  {
    what: '50 MB against 10 MB',
    goal: most(6),
    of: ({ large: l }) => l?.[50 * MB] && l[50 * MB].ms[SOCKET] / l[10 * MB].ms[SOCKET],
  },
  ...[10, 50].map((size) => ({
    what: `memory for a ${size} MB result, over the message`,
    goal: { text: '≤ 20 MB', holds: (/** @type {number} */ value) => value <= 20 * MB },
    of: (/** @type {{ large: any }} */ { large: l }) => {
      const memory = l?.[size * MB]?.memory;
      return memory?.peak && memory.peak - memory.before - size * MB;
    },
    show: megabytes,
  })),
  {
    what: "small calls' p99 beside a 50 MB result, against without",
    goal: most(5),
    of: ({ beside: b }) => b && b.systems[SOCKET].beside.p99 / b.systems[SOCKET].alone.p99,
  },
  {
    what: '`call` against a warm daemon, against a bare Node script on the same socket',
    goal: most(1.15),
    of: ({ command: c }) => c && c['toolherd call'] / c['a bare script'],
  },
  {
    what: 'herd of 20 listed, boot of the daemon included, against spawning 20 raw children',
    goal: most(1.35),
    of: ({ herdStart: h }) => h?.[20] && h[20].toolherd / h[20]['raw children'],
  },
  {
    what: 'a warm `npx` entry, start to list, against `node BIN`',
    goal: most(1.25),
    of: ({ npx: n }) => n && n['toolherd, npx'].ms / n['node BIN'].ms,
  },
  {
    what: 'its memory, proportional, against `node BIN`',
    goal: most(1.1),
    of: ({ npx: n }) => (n?.['node BIN'].pss ? n['toolherd, npx'].pss / n['node BIN'].pss : undefined),
  },
  {
    what: '20 servers by `npx`, daemon to all listed, against the better of mcporter and mcp-hub',
    goal: most(0.4),
    of: ({ npxHerd: h }) => againstRivals(h?.[20], 'ms'),
  },
  {
    what: 'their memory, whole tree, proportional, against the better of the two',
    goal: most(0.5),
    of: ({ npxHerd: h }) => againstRivals(h?.[20], 'pss'),
  },
  {
    what: 'the same start with the registry unreachable, against reachable',
    goal: most(1.1),
    of: ({ npxHerd: h }) => h?.[20] && h[20]['toolherd, registry unreachable'].ms / h[20].toolherd.ms,
  },
  {
    what: 'agent attach, 20 cold servers, lists from the cache',
    goal: { text: '≤ 50 ms', holds: (value) => value <= 50 },
    of: ({ attach: a }) => a?.first,
    show: ms,
  },
  {
    what: "daemon's own memory, idle, 20 servers",
    goal: { text: '≤ 85 MB', holds: (value) => value <= 85 * MB },
    of: ({ memory: m }) => m?.[20]?.toolherd.rss || undefined,
    show: megabytes,
  },
  {
    what: '8 agents × 10 servers, memory against separate processes',
    goal: most(0.18),
    of: ({ shared: s }) => (s?.separate.rss ? s.shared.rss / s.separate.rss : undefined),
    show: (value) => value.toFixed(3),
  },
  {
    what: 'error to the caller after SIGKILL',
    goal: { text: '≤ 20 ms', holds: (value) => value <= 20 },
    of: ({ recovery: r }) => r && (r.systems[SOCKET].error ?? Number.POSITIVE_INFINITY),
    show: ms,
  },
  {
    what: "next success after SIGKILL, over the server's own boot",
    goal: { text: '≤ 50 ms', holds: (value) => value <= 50 },
    of: ({ recovery: r }) => r && (r.systems[SOCKET].overBoot ?? Number.POSITIVE_INFINITY),
    show: ms,
  },
  {
    what: 'transient with a spare that is ready, against singleton',
    goal: most(2),
    of: ({ transient: t }) => t && t['a spare is ready'] / t.singleton,
  },
  {
    what: 'a call to another node of a cluster, p50, against a bare request of NATS and a local call',
    goal: most(1.6),
    of: ({ cluster: c }) => c && c.p50.other / (c.p50.request + c.p50.own),
  },
  {
    what: 'the same, 64 in flight, calls a second',
    goal: least(0.6),
    of: ({ cluster: c }) => c && c.rate.other * (1 / c.rate.request + 1 / c.rate.own),
  },
  {
    what: '1,000,000 calls: heap, fds and timers against the start',
    goal: { text: 'back to the start', holds: ({ isBack }) => isBack },
    of: ({ million: m }) => m && { ...m, isBack: isBack(m) },
    show: ({ before, after }) =>
      `heap ${(before.heap / MIB).toFixed(1)} → ${(after.heap / MIB).toFixed(1)} MiB, ` +
      `fds ${before.fds} → ${after.fds}, timers ${before.timers} → ${after.timers}`,
  },
];

/** @param {any} herd @param {'ms' | 'pss'} field */
function againstRivals(herd, field) {
  const rivals = ['mcporter', 'mcp-hub'].map((name) => herd?.[name]?.[field]).filter(Boolean);
  return rivals.length === 0 ? undefined : herd.toolherd[field] / Math.min(...rivals);
}

/** A byte a call would be 0.95 MiB: what is left over from a million calls must be less than that. */
function isBack(/** @type {{ before: any, after: any, calls: number }} */ { before, after, calls }) {
  return after.fds <= before.fds && after.timers <= before.timers && after.heap - before.heap < calls;
}

/** @param {Record<string, any>} results */
export function checkGoals(results) {
  return goals.map(({ what, goal, of, show = ratio }) => {
    const value = of(results);
    if (value === undefined) return { what, goal: goal.text, measured: '', verdict: 'not measured' };
    return { what, goal: goal.text, measured: show(value), verdict: goal.holds(value) ? 'met' : 'missed' };
  });
}
