import type { StateValue, StateValueFrom } from 'xstate';
import type { KeeperMachine } from './keeper.js';
import type { ServerMachine } from './server.js';

type Outermost<Value> = Value extends string ? Value : keyof Value;

/** The outermost states of a server machine: the `state` of a status. */
export type ServerStateName = Outermost<StateValueFrom<ServerMachine>>;

/** The outermost states of a keeper: the `detail` of a status. */
export type KeeperStateName = Outermost<StateValueFrom<KeeperMachine>>;

/** `{connected: {closing: 'asking'}}` → `connected.closing.asking`. For machines without parallel states. */
export function stateName(value: StateValue): string {
  if (typeof value === 'string') return value;
  // a snapshot and an actor have methods; both refer to themselves
  if (Object.values(value).some((child) => child !== undefined && !/string|object/.test(typeof child)))
    throw new TypeError('stateName takes the value of a snapshot: stateName(snapshot.value)');
  return Object.entries(value)
    .map(([parent, child]) => (child === undefined ? parent : `${parent}.${stateName(child)}`))
    .join('|');
}

/** `connected.serving` → `connected`. */
export function topName(name: string): string {
  return name.split('.')[0] ?? '';
}

/** `name`: the full name of a state of a server machine. */
export function serverState(name: string): ServerStateName {
  return topName(name) as ServerStateName;
}

/** `name`: the full name of a state of a keeper. */
export function keeperState(name: string): KeeperStateName {
  return topName(name) as KeeperStateName;
}
