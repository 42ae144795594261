import { realpathSync } from 'node:fs';
import { delimiter } from 'node:path';
import { findProgram } from './files.js';
import { hash } from './hash.js';
import { npmSettings } from './npm-settings.js';

/** Settings of npm that do not change what is installed. */
const NEUTRAL = /^npm_config_(cache|offline|prefer_offline|prefer_online|loglevel|fetch_\w+)$/;
/** Other variables that change what npm downloads and from where. */
const DECLARED = /^(HOME|NODE_\w+|\w+_PROXY|XDG_\w+|SSL_\w+)$/i;

/**
 * What besides the request changes the outcome of an installation: installations with different influences are kept apart.
 * Of the variables only those count that the entry declares. The user's own may change at any time (another proxy, a
 * registry that is down), and what is installed must still start then; npx does not keep its packages apart either.
 */
export function influenceOf(
  env: Readonly<Record<string, string>>,
  declared: Readonly<Record<string, string>>,
  runsScripts: boolean,
): string {
  const settings = npmSettings(declared).filter(([name]) => !NEUTRAL.test(name));
  const others = Object.entries(declared).filter(([name]) => DECLARED.test(name));
  const pairs = [...settings, ...others].sort(([a], [b]) => (a < b ? -1 : 1));
  return hash(JSON.stringify({ pairs, node: nodeIn(env), runsScripts }));
}

/** Native code is built for one Node. A version manager has a folder for each. */
function nodeIn({ PATH = '' }: Readonly<Record<string, string>>): string | undefined {
  const node = findProgram('node', PATH.split(delimiter));
  return node && realpathSync(node);
}
