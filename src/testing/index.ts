/**
 * "toolherd/testing": what it takes to model-test the machines without a process, a socket or a real second.
 *
 * - `SimulatedWorld`: processes, gate and permits that follow a script, and the invariants checked against them
 * - `VirtualClock`: time that passes only when told to
 * - scripts: `healthy`, `crashing`, `unstartable`, `obedient`, `stubborn`, `silent`, and `reports` to make by hand
 * - `SimulatedPool`: a transient machine with simulated processes and calls
 * - `everyEdge`: every edge of a machine, with a shortest way to it
 */

export { stateName } from '../machines/state-name.js';
export { VirtualClock } from './clock.js';
export * from './script.js';
export type { SimulatedLink, SimulatedProcess } from './simulated-link.js';
export { type PoolOptions, SimulatedPool } from './simulated-pool.js';
export { type Edge, everyEdge, type WalkOptions } from './walk.js';
export { SimulatedWorld, type WorldOptions } from './world.js';
