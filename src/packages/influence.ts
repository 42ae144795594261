import { realpathSync } from 'node:fs';
import { delimiter } from 'node:path';
import { findProgram } from './npm.js';
import { npmSettings } from './npm-settings.js';
import { hash } from './package-store.js';

/** Settings of npm that do not change what is installed. */
const NEUTRAL = /^npm_config_(cache|offline|prefer_offline|prefer_online|loglevel|fetch_\w+)$/;
/** Variables by which an entry may change what npm downloads, or what install scripts do. */
const DECLARED = /^(NODE_\w+|\w+_PROXY|XDG_\w+|SSL_\w+)$/i;

/**
 * What besides the request changes the outcome of an installation: installations with different influences are kept apart.
 * Settings of npm and the user's home count wherever they come from. Proxies and the like count only if the entry declares
 * them: a daemon that is started behind another proxy must still find its packages.
 */
export function influenceOf(
  env: Readonly<Record<string, string>>,
  declared: Readonly<Record<string, string>>,
  runsScripts: boolean,
): string {
  const settings = npmSettings(env).filter(([name]) => !NEUTRAL.test(name));
  const own = Object.entries(declared).filter(([name]) => DECLARED.test(name));
  const all = {
    settings: sorted(settings),
    own: sorted(own),
    home: env.HOME,
    node: nodeIn(env),
    runsScripts,
  };
  return hash(JSON.stringify(all));
}

/** Native code is built for one Node. A version manager has a folder for each. */
function nodeIn({ PATH = '' }: Readonly<Record<string, string>>): string | undefined {
  const node = findProgram('node', PATH.split(delimiter));
  return node && realpathSync(node);
}

function sorted(pairs: readonly [string, string][]): [string, string][] {
  return [...pairs].sort(([a], [b]) => (a < b ? -1 : 1));
}
