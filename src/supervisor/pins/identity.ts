import { createHash } from 'node:crypto';
import type { ServerSpec } from '../../config/schema/spec.js';

/**
 * Whose pins they are: a name, and where its tools come from. Another command, another version in its arguments or
 * another address is another server, with pins of its own. What may change while the tools stay what they are is not in
 * it: an environment and headers hold tokens, which are renewed, and so may the query of an url. If those counted, a
 * new token would be the moment in which nobody notices a changed tool.
 */
export function pinIdentity(spec: ServerSpec): string {
  const { name, transport } = spec;
  const source =
    spec.transport === 'stdio'
      ? { command: spec.command, args: spec.args, cwd: spec.cwd }
      : { url: placeOf(spec.url) };
  return createHash('sha256')
    .update(JSON.stringify({ name, transport, ...source }))
    .digest('hex');
}

function placeOf(url: string): string {
  // that of a server which is switched off may still have its variables in it
  if (!URL.canParse(url)) return url.replace(/[?#].*$/s, '');
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
