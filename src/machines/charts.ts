/** The pictures of all machines. The build writes them down for the page, which then needs no layout library. */
import type { ChartDrawing } from './chart-drawing.js';
import { layOutChart } from './chart-layout.js';
import { keeperMachine } from './keeper.js';
import { serverMachine } from './server.js';
import { transientMachine } from './transient.js';

export interface Charts {
  server: ChartDrawing;
  keeper: ChartDrawing;
  transient: ChartDrawing;
}

export function drawCharts(): Charts {
  return {
    server: layOutChart(serverMachine),
    keeper: layOutChart(keeperMachine),
    transient: layOutChart(transientMachine),
  };
}
