import type { StateValue } from 'xstate';

/** `{connected: {closing: 'asking'}}` → `connected.closing.asking`. For machines without parallel states. */
export function stateName(value: StateValue): string {
  if (typeof value === 'string') return value;
  return Object.entries(value)
    .map(([parent, child]) => (child === undefined ? parent : `${parent}.${stateName(child)}`))
    .join('|');
}

/** `connected.serving` → `connected`. */
export function topName(name: string): string {
  return name.split('.')[0] ?? '';
}
