// Which plots there are, by the names of their files.
import { sizeName } from './markdown.mjs';
import { bars, lines } from './svg.mjs';

const MB = 1e6;

/** name → [[x, y]…] from x → {name: value}. */
function turned(
  /** @type {Record<string, any>} */ byX,
  /** @type {(value: any, all: any) => number} */ pick,
) {
  /** @type {Record<string, [number, number][]>} */
  const series = {};
  for (const [x, all] of Object.entries(byX)) {
    if (!(Number(x) > 0)) continue;
    for (const [name, value] of Object.entries(all)) {
      const y = pick(value, all);
      if (y > 0) (series[name] ??= []).push([Number(x), y]);
    }
  }
  return series;
}

/** @type {Record<string, (results: any) => string | undefined>} */
const plots = {
  'latency.svg': ({ sequential }) =>
    sequential &&
    bars({
      title: 'One call after the other, 100 bytes',
      unit: 'ms',
      legend: ['p50', 'p99'],
      rows: Object.entries(sequential).map(([name, { p50, p99 }]) => [name, p50, p99]),
    }),
  'throughput.svg': ({ throughput }) =>
    throughput &&
    bars({
      title: '64 calls in flight',
      unit: 'calls a second',
      legend: ['one server', 'eight servers'],
      rows: Object.keys(throughput.one).map((name) => [name, throughput.one[name], throughput.eight[name]]),
    }),
  'message-size.svg': ({ large }) =>
    large &&
    lines({
      title: 'What a result costs by its size',
      xUnit: 'size of the result',
      yUnit: 'ms',
      nameX: sizeName,
      series: turned(
        Object.fromEntries(Object.entries(large).map(([size, { ms }]) => [size, ms])),
        (/** @type {number} */ ms) => ms,
      ),
    }),
  'herd-start.svg': ({ herdStart }) =>
    herdStart &&
    lines({
      title: 'From nothing to the list of all tools, by the size of the herd',
      xUnit: 'servers',
      yUnit: 'ms',
      series: turned(herdStart, (/** @type {number} */ ms) => ms),
    }),
  'npx-start.svg': ({ npxHerd }) =>
    npxHerd &&
    lines({
      title: 'Servers that npx runs: from nothing to the list of all tools',
      xUnit: 'servers',
      yUnit: 'ms',
      series: turned(npxHerd, (/** @type {{ ms: number }} */ { ms }) => ms),
    }),
  'npx-memory.svg': ({ npxHerd }) =>
    npxHerd &&
    lines({
      title: 'Servers that npx runs: memory of the whole tree',
      xUnit: 'servers',
      yUnit: 'MB, proportional',
      linear: true,
      series: turned(npxHerd, (/** @type {{ pss: number }} */ { pss }) => pss / MB),
    }),
  'herd-memory.svg': ({ memory }) =>
    memory &&
    lines({
      title: 'Memory beside the servers, by the size of the herd',
      xUnit: 'servers',
      yUnit: 'MB resident',
      linear: true,
      series: turned(memory, (/** @type {{ rss: any }} */ { rss }) => rss / MB),
    }),
};

/** Those for which there are results. */
/**
 * @param {Record<string, any>} results
 * @returns {Record<string, string>} the drawings by file name
 */
export function drawPlots(results) {
  const drawn = Object.entries(plots).map(([file, draw]) => [file, draw(results)]);
  return Object.fromEntries(drawn.filter(([, svg]) => svg !== undefined));
}
