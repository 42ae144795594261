import type { HerdSpec, ServerSpec } from '../config/fields/spec.js';
import type { Link, LinkEvents } from './link.js';
import { openRemote, type RemoteDeps } from './remote/link.js';
import { openStdio, type StdioDeps } from './stdio/link.js';

export interface LinkDeps extends StdioDeps, RemoteDeps {
  /** Opens the connection to another herd. Absent: there are none. */
  openHerd?(spec: HerdSpec, on: LinkEvents): Link;
}

/** Opens a link over the server's transport. `on` gets everything that follows. */
export function openLink(spec: ServerSpec, deps: LinkDeps, on: LinkEvents): Link {
  if (spec.transport === 'stdio') return openStdio(spec, deps, on);
  if (spec.transport === 'cluster')
    throw new Error(`${spec.name}: only its replicas on other nodes have links`);
  if (!('address' in spec)) return openRemote(spec, deps, on);
  if (deps.openHerd === undefined) throw new Error(`${spec.name}: this program opens no other herds`);
  return deps.openHerd(spec, on);
}
