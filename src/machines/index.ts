/**
 * The statecharts, pure: they import XState and types, and take time, chance and the world from outside.
 *
 * - `server.ts`, `server-context.ts`: one incarnation, from `created` to its ending
 * - `keeper.ts`, `keeper-context.ts`: one replica of a configured server: wanted or not, restarts, backoff, quarantine
 * - `transient.ts`, `transient-context.ts`: one server that gets a fresh process for each call: spares, backoff
 * - `restart/restart-policy.ts`: what follows an ending, as pure functions
 * - `link-protocol.ts`, `permit.ts`: what the machines and the actors provided to them say to each other
 * - `restart/ending.ts`: how an incarnation came to its end
 * - `chart.ts`, `chart-layout.ts`, `chart-svg.ts`: pictures drawn from the definitions
 */
export { mermaid } from './chart.js';
export * from './chart-drawing.js';
export { layOutChart } from './chart-layout.js';
export { chartSvg, type Marks, serverSvg } from './chart-svg.js';
export { type DelayName, delayOf, eventLabel } from './event-name.js';
export { type KeeperMachine, keeperMachine } from './keeper.js';
export * from './keeper-context.js';
export type { LinkInput, LinkLogic, LinkOrder, LinkReport } from './link-protocol.js';
export {
  type PermitInput,
  type PermitLogic,
  type PermitReport,
  type StartPurpose,
  unlimited,
} from './permit.js';
export * from './restart/ending.js';
export {
  afterEnding,
  afterRestart,
  backoffMs,
  decide,
  forgiven,
  type History,
  intensityUnreachable,
  noHistory,
  type Pause,
  pauseAfter,
  type RestartPolicy,
  type Verdict,
} from './restart/restart-policy.js';
export { type ServerMachine, serverMachine } from './server.js';
export * from './server-context.js';
export {
  type KeeperStateName,
  keeperState,
  type ServerStateName,
  serverState,
  stateName,
  topName,
} from './state-name.js';
export { type TransientMachine, transientMachine } from './transient.js';
export * from './transient-context.js';
