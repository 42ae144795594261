// Plots as SVG: bars on one logarithmic axis, and lines over another. They follow the reader's light or dark theme.

const WIDTH = 760;
const COLOURS = [
  '#7a8699',
  '#c98500',
  '#3b82c4',
  '#17a05d',
  '#0b7a6f',
  '#8b5fc7',
  '#b8559a',
  '#c9523d',
  '#a3742c',
  '#6b7f2a',
];

const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #24292f }
  .title { font-size: 14px; font-weight: 600 }
  .faint { fill: #57606a }
  .grid { stroke: #d0d7de }
  path { fill: none; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .faint { fill: #9198a1 }
    .grid { stroke: #3d444d }
  }`;

/** @type {Record<string, string>} */
const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (/** @type {string} */ text) =>
  text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
const at = (/** @type {number} */ value) => Number(value.toFixed(1));
const text = (/** @type {number} */ x, /** @type {number} */ y, /** @type {string} */ label, more = '') =>
  `<text x="${at(x)}" y="${at(y)}"${more}>${escaped(label)}</text>`;

function picture(/** @type {number} */ height, /** @type {string} */ title, /** @type {string[]} */ body) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(title)}">
<style>${STYLE}
</style>
${text(0, 16, title, ' class="title"')}
${body.join('\n')}
</svg>
`;
}

/** Powers of ten that hold all values. */
export function decades(/** @type {number[]} */ values) {
  const logs = values.filter((/** @type {number} */ value) => value > 0).map(Math.log10);
  const low = Math.floor(Math.min(...logs));
  return { low, high: Math.max(low + 1, Math.ceil(Math.max(...logs))) };
}

export const shortNumber = (/** @type {number} */ value) => {
  if (value >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`;
  if (value >= 1e3) return `${Number((value / 1e3).toPrecision(3))}k`;
  return String(Number(value.toPrecision(3)));
};

/** `rows`: [name, first value, second value…]; the legend names the values. */
export function bars(
  /** @type {{ title: string, unit: string, legend: string[], rows: [string, ...number[]][] }} */ {
    title,
    unit,
    legend,
    rows,
  },
) {
  const left = 190;
  const right = 70;
  const thick = 13;
  const step = thick * legend.length + 9;
  const { low, high } = decades(rows.flatMap(([, ...values]) => values));
  const x = (/** @type {number} */ value) =>
    left + ((Math.log10(value) - low) / (high - low)) * (WIDTH - left - right);
  const bottom = 44 + rows.length * step;
  const body = [];
  for (let power = low; power <= high; power += 1) {
    const where = at(x(10 ** power));
    body.push(`<line class="grid" x1="${where}" x2="${where}" y1="36" y2="${bottom}"/>`);
    body.push(text(where, bottom + 16, shortNumber(10 ** power), ' text-anchor="middle" class="faint"'));
  }
  body.push(text(WIDTH, bottom + 16, unit, ' text-anchor="end" class="faint"'));
  legend.forEach((name, index) => {
    body.push(`<rect x="${left + index * 150}" y="22" width="10" height="10" fill="${COLOURS[index + 2]}"/>`);
    body.push(text(left + index * 150 + 15, 31, name, ' class="faint"'));
  });
  rows.forEach(([name, ...values], row) => {
    const top = 44 + row * step;
    body.push(text(left - 8, top + (thick * legend.length) / 2 + 4, name, ' text-anchor="end"'));
    values.forEach((value, index) => {
      const y = top + index * thick;
      const width = at(x(value) - left);
      body.push(
        `<rect x="${left}" y="${y}" width="${width}" height="${thick - 2}" fill="${COLOURS[index + 2]}"/>`,
      );
      body.push(text(x(value) + 4, y + thick - 3, shortNumber(value), ' class="faint"'));
    });
  });
  return picture(bottom + 26, title, body);
}

/** `series`: name → [[x, y]…]; both axes are logarithmic unless `linear` says that y is not. */
export function lines(
  /** @type {{ title: string, xUnit: string, yUnit: string, series: Record<string, number[][]>, linear?: boolean, nameX?: (x: number) => string }} */ {
    title,
    xUnit,
    yUnit,
    series,
    linear = false,
    nameX = shortNumber,
  },
) {
  const [left, top, height, right] = [56, 34, 300, 200];
  const points = Object.values(series).flat();
  const xs = [...new Set(points.map(([x]) => x))].sort((a, b) => a - b);
  const [xLow, xHigh] = [Math.log10(xs[0]), Math.log10(xs.at(-1) ?? 1)];
  const range = linear
    ? { low: 0, high: niceTop(Math.max(...points.map(([, y]) => y))) }
    : decades(points.map(([, y]) => y));
  const scale = (/** @type {number} */ value) => (linear ? value : Math.log10(value));
  const px = (/** @type {number} */ value) =>
    left + ((Math.log10(value) - xLow) / (xHigh - xLow || 1)) * (WIDTH - left - right);
  const py = (/** @type {number} */ value) =>
    top + height - ((scale(value) - range.low) / (range.high - range.low)) * height;
  const body = [];
  const ticks = linear
    ? Array.from({ length: 6 }, (_, part) => (range.high / 5) * part)
    : Array.from({ length: range.high - range.low + 1 }, (_, power) => 10 ** (range.low + power));
  for (const tick of ticks) {
    const y = at(py(tick));
    body.push(`<line class="grid" x1="${left}" x2="${WIDTH - right}" y1="${y}" y2="${y}"/>`);
    body.push(text(left - 6, y + 4, shortNumber(tick), ' text-anchor="end" class="faint"'));
  }
  for (const x of xs)
    body.push(text(px(x), top + height + 18, nameX(x), ' text-anchor="middle" class="faint"'));
  body.push(text(WIDTH - right, top + height + 36, xUnit, ' text-anchor="end" class="faint"'));
  body.push(text(0, top - 4, yUnit, ' class="faint"'));
  const labels = Object.entries(series)
    .map(([name, list], index) => ({ name, list, colour: COLOURS[index % COLOURS.length] }))
    .sort((a, b) => (b.list.at(-1)?.[1] ?? 0) - (a.list.at(-1)?.[1] ?? 0));
  labels.forEach(({ name, list, colour }, row) => {
    const path = list
      .map(
        (/** @type {any} */ [x, y], /** @type {number} */ index) =>
          `${index === 0 ? 'M' : 'L'}${at(px(x))} ${at(py(y))}`,
      )
      .join(' ');
    body.push(`<path d="${path}" stroke="${colour}"/>`);
    for (const [x, y] of list)
      body.push(`<circle cx="${at(px(x))}" cy="${at(py(y))}" r="3" fill="${colour}"/>`);
    body.push(
      `<rect x="${WIDTH - right + 14}" y="${top + row * 20}" width="10" height="10" fill="${colour}"/>`,
    );
    body.push(text(WIDTH - right + 30, top + row * 20 + 9, name));
  });
  return picture(top + height + 46, title, body);
}

/**
 * The next round number, so that five steps of it are round too.
 * @param {number} value
 */
export function niceTop(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 2.5, 5, 10].map((step) => step * power).find((top) => top >= value) ?? 10 * power;
}
