// What is measured, in this order; and how much of it in a full run and in a quick one.
import { measureCluster } from './cluster.mjs';
import { measureCommand } from './command.mjs';
import { measureFanOut } from './fan-out.mjs';
import { measureAttach, measureMemory, measureShared, measureStart } from './herd.mjs';
import { measureBeside, measureLarge } from './large.mjs';
import { measureMillion } from './million.mjs';
import { measureNpx, measureNpxHerd } from './npx.mjs';
import { measureRecovery } from './recovery.mjs';
import { measureSequential, measureThroughput } from './sequential.mjs';
import { measureTransient } from './transient.mjs';

const MB = 1e6;

/** @type {Record<string, { measure: (options: Bench.MetricOptions) => Promise<object>, full: object, quick: object | undefined }>} */
export const metrics = {
  sequential: {
    measure: measureSequential,
    full: { rounds: 28, calls: 400 },
    quick: { rounds: 5, calls: 250 },
  },
  throughput: {
    measure: measureThroughput,
    full: { rounds: 14, calls: 5000 },
    quick: { rounds: 3, calls: 1500 },
  },
  large: {
    measure: measureLarge,
    full: { rounds: 14, sizes: [100, 1e3, 1e4, 1e5, MB, 10 * MB, 50 * MB, 200 * MB] },
    quick: { rounds: 3, sizes: [10 * MB] },
  },
  beside: {
    measure: measureBeside,
    full: { rounds: 8, size: 50 * MB, ms: 2000 },
    quick: { rounds: 1, size: 50 * MB, ms: 1000 },
  },
  command: { measure: measureCommand, full: { rounds: 40 }, quick: { rounds: 7 } },
  start: {
    measure: measureStart,
    full: { rounds: 7, sizes: [1, 5, 20, 50, 100] },
    quick: { rounds: 1, sizes: [20] },
  },
  npx: { measure: measureNpx, full: { rounds: 11 }, quick: { rounds: 3 } },
  'npx-herd': { measure: measureNpxHerd, full: { rounds: 2, sizes: [4, 8, 20] }, quick: undefined },
  attach: { measure: measureAttach, full: { rounds: 11 }, quick: { rounds: 2 } },
  memory: { measure: measureMemory, full: { sizes: [0, 1, 5, 20, 50, 100] }, quick: { sizes: [20] } },
  shared: { measure: measureShared, full: {}, quick: undefined },
  recovery: { measure: measureRecovery, full: { rounds: 10 }, quick: { rounds: 2 } },
  transient: { measure: measureTransient, full: { rounds: 40 }, quick: { rounds: 5 } },
  'fan-out': { measure: measureFanOut, full: { rounds: 15 }, quick: { rounds: 5 } },
  cluster: {
    measure: measureCluster,
    full: { rounds: 14, calls: 400, sizes: [50 * MB] },
    quick: { rounds: 3, calls: 200, sizes: [10 * MB] },
  },
  million: { measure: measureMillion, full: {}, quick: undefined },
};
