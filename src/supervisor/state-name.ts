import type { StateValue } from 'xstate';

/** `{connected: 'serving'}` → `connected.serving`. */
export function stateName(value: StateValue): string {
  if (typeof value === 'string') return value;
  return Object.entries(value)
    .map(([key, inner]) => (inner === undefined ? key : `${key}.${stateName(inner)}`))
    .join(' ');
}

/** `connected.serving` → `connected`. */
export function topName(name: string): string {
  return name.split('.')[0] ?? '';
}
