import { createHash } from 'node:crypto';
import type { ServerSpec } from '../config/fields/spec.js';
import { HIDDEN, hideInArguments } from '../shared/secrets/hide-secrets.js';

/** What makes a server the same server: its name and everything it would be started with. The file it comes from does not count. */
export function identityOf(spec: ServerSpec): string {
  const identity = identities.get(spec) ?? hashOf(spec);
  identities.set(spec, identity);
  return identity;
}

/** Worked out once: every view compares every spec, and a thousand agents have a thousand views. */
const identities = new WeakMap<ServerSpec, string>();

function hashOf({ origin: _, ...rest }: ServerSpec): string {
  return createHash('sha256').update(JSON.stringify(rest)).digest('hex');
}

/**
 * A spec as `inspect` shows it: declared values are hidden by their place, known secrets wherever they stand, and those of
 * the arguments and the url by their look.
 */
export function redactedSpec(spec: ServerSpec, redact: <T>(value: T) => T): Record<string, unknown> {
  const hidden = (values: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.keys(values).map((name) => [name, HIDDEN]));
  const headers = 'headers' in spec ? { headers: hidden(spec.headers) } : {};
  const args = 'args' in spec ? { args: hideInArguments(redact(spec.args)).words } : {};
  const url = 'url' in spec ? { url: hideInArguments([redact(spec.url)]).words[0] } : {};
  return redact({ ...spec, env: hidden(spec.env), ...headers, ...args, ...url });
}
