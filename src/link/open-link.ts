import type { ServerSpec } from '../config/fields/spec.js';
import type { Link, LinkEvents } from './link.js';
import { openRemote, type RemoteDeps } from './remote/link.js';
import { openStdio, type StdioDeps } from './stdio/link.js';

export type LinkDeps = StdioDeps & RemoteDeps;

/** Opens a link over the server's transport. `on` gets everything that follows. */
export function openLink(spec: ServerSpec, deps: LinkDeps, on: LinkEvents): Link {
  return spec.transport === 'stdio' ? openStdio(spec, deps, on) : openRemote(spec, deps, on);
}
