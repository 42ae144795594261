// The text of a soak for docs/DASHBOARD.md, and whether it kept the limits.
import { markdownTable } from '../../scripts/shared/markdown.mjs';

export const LIMITS = { tabMb: 150, ratio: 1.3, calls: 990 };

/** @typedef {import('./soak.mjs').SoakResult & { date: string, node: string, load: number }} Soak */

const mebibytes = (/** @type {number} */ bytes) => Math.round(bytes / 2 ** 20);
const whole = (/** @type {number} */ value) => Math.round(value).toLocaleString('en-US');
const percent = (/** @type {number} */ share) => `${Math.round(100 * share)} %`;
const ratioOf = (/** @type {Soak} */ { p99_ms }) => p99_ms.with / p99_ms.without;

/** @param {Soak} soak */
export function isGood(soak) {
  return (
    mebibytes(soak.tab_bytes.most) < LIMITS.tabMb &&
    ratioOf(soak) <= LIMITS.ratio &&
    soak.calls_per_s >= LIMITS.calls
  );
}

/** @param {Soak} soak */
export function soakText(soak) {
  const {
    date,
    node,
    load,
    minutes,
    servers,
    windows,
    calls_per_s,
    events_per_s,
    kills,
    calls,
    failed,
    restarts,
  } = soak;
  const { cores, tab_bytes, longest_task_ms, p50_ms, p99_ms, daemon_bytes } = soak;
  const ms = (/** @type {number} */ value) => `${value.toFixed(2)} ms`;
  const minutesText = minutes < 2 ? minutes.toFixed(1) : whole(minutes);
  const head = ['what', 'measured', 'goal'];
  const rows = [
    ['calls a second, each an event', whole(calls_per_s), '1,000'],
    ['events that the page got, a second', whole(events_per_s), ''],
    [
      'private memory of the tab',
      `${mebibytes(tab_bytes.median)} MB, at most ${mebibytes(tab_bytes.most)} MB`,
      `below ${LIMITS.tabMb} MB`,
    ],
    ['longest task of the tab', `${whole(longest_task_ms)} ms`, ''],
    [
      'p99 of another client, with the page and without it',
      `${ms(p99_ms.with)}, ${ms(p99_ms.without)}: ${ratioOf(soak).toFixed(2)} ×`,
      `at most ${LIMITS.ratio} ×`,
    ],
    ['its p50', `${ms(p50_ms.with)}, ${ms(p50_ms.without)}`, ''],
    [
      'CPU of the daemon, with the page and without it',
      `${percent(cores.daemon.with)}, ${percent(cores.daemon.without)} of a core`,
      '',
    ],
    ['CPU of the browser', `${percent(cores.browser.with)} of a core`, ''],
    [
      'memory of the daemon, before and after',
      `${mebibytes(daemon_bytes.before)} MB, ${mebibytes(daemon_bytes.after)} MB`,
      '',
    ],
  ];
  return [
    `Measured on ${date}, Node ${node}, load ${load} before it began: ${servers} servers got ${whole(calls)} calls. ${whole(kills)} times one was killed,`,
    `${whole(failed)} calls failed with it, and toolherd restarted servers ${whole(restarts)} times. The page was open for ${minutesText} minutes, in ${whole(windows)} windows`,
    'with as many without it between them.',
    '',
    markdownTable(head, rows),
  ].join('\n');
}
