import type { ServerSpec } from '../config/spec.js';
import type { Link, LinkEvents } from './link.js';
import { openStdio, type StdioDeps } from './stdio/link.js';

export type LinkDeps = StdioDeps;

/** Opens the link that a server's transport needs. Everything that follows is told through `on`. */
export function openLink(spec: ServerSpec, deps: LinkDeps, on: LinkEvents): Link {
  if (spec.transport === 'stdio') return openStdio(spec, deps, on);
  throw new Error(`${spec.name}: transport '${spec.transport}' is not there yet`);
}
