import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

/**
 * Writes the places of all states, arrows and labels of the statecharts for the page: page/charts.json.
 * @param {string} out the folder of the build, which has the bundle that draws
 */
export function writeCharts(out) {
  const { drawCharts } = createRequire(import.meta.url)(resolve(out, 'bin', 'draw-chart.cjs'));
  mkdirSync(join(out, 'page'), { recursive: true });
  writeFileSync(join(out, 'page', 'charts.json'), `${JSON.stringify(drawCharts())}\n`);
}
