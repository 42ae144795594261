import type { HttpSpec, RemoteSpec } from '../../../src/config/fields/spec.js';
import { openRemote, type RemoteDeps } from '../../../src/link/remote/link.js';
import { Redactor } from '../../../src/shared/secrets/redactor.js';
import type { Remote } from '../../support/remote-servers.js';
import { specOf } from '../spec.js';
import { type RecordedLink, recordLink } from '../support.js';

export { deferred, errorOf, textOf } from '../support.js';

/** HTTP has every field that one of them has. */
type Changes = Partial<Omit<HttpSpec, 'transport'>>;

/** A spec with every default filled in. */
export function remoteSpec(transport: Remote, url: string, changes: Changes = {}): RemoteSpec {
  const { command, args, cwd, encoding, startTimeoutMs, lifecycle, spares, stop, maxRss, ...common } =
    specOf('remote');
  const remote = { url, headers: {}, timeoutMs: 10_000, sseReadTimeoutMs: 300_000, terminateOnClose: true };
  return { ...common, name: 'far', ...remote, ...changes, transport } as RemoteSpec;
}

/** Opens a remote link that is killed at the end of the test. */
export function open(spec: RemoteSpec, deps: Partial<RemoteDeps> = {}): RecordedLink {
  const redact = (text: string) => Redactor.of(spec.headers).redact(text);
  return recordLink((common, on) => openRemote(spec, { ...common, redact, ...deps }, on));
}

/** How long something takes, in milliseconds. */
export async function timed<T>(what: Promise<T>): Promise<[number, T]> {
  const began = performance.now();
  const value = await what;
  return [performance.now() - began, value];
}
