import type { StdioSpec } from '../../config/spec.js';
import { COOKIE_NAME } from '../process/identity.js';

/** What a child may know of the daemon's own environment. Everything else has to be declared. */
const PASSED_ON = new Set(['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER', 'LANG', 'TZ', 'TMPDIR']);
const PROXIES = new Set(['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'FTP_PROXY']);

export type Environment = Readonly<Record<string, string | undefined>>;

export function childEnvironment(
  daemon: Environment,
  spec: Pick<StdioSpec, 'env' | 'config'>,
  cookie: string,
): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(daemon)) {
    // a value like `() {…` is a function that old shells would run
    if (value !== undefined && passes(name) && !value.startsWith('()')) env[name] = value;
  }
  if (spec.config !== undefined) env.MCP_CONFIG = JSON.stringify(spec.config);
  for (const [name, value] of Object.entries(spec.env)) env[name] = value;
  env[COOKIE_NAME] = cookie;
  return env;
}

function passes(name: string): boolean {
  return PASSED_ON.has(name) || name.startsWith('LC_') || PROXIES.has(name.toUpperCase());
}
