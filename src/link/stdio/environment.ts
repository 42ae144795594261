import { delimiter, dirname } from 'node:path';
import type { StdioSpec } from '../../config/fields/spec.js';
import { COOKIE_NAME } from '../../processes/process-identity.js';
import type { Environment } from '../../shared/environment.js';
import { looksSecret } from '../../shared/secrets/secret-name.js';

/** Variables of the daemon that every child gets. Everything else has to be declared. */
const PASSED_ON = new Set(['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER', 'LANG', 'TZ', 'TMPDIR']);
const PROXIES = new Set(['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'FTP_PROXY']);

/**
 * Variables that tell the programs which run servers where their registry is, which proxy to use and which certificates
 * to trust. Without them `npx`, `uvx` and `docker` fail in a company's network. None of them is meant for credentials.
 */
const REACH = new Set([
  ...['NODE_EXTRA_CA_CERTS', 'NODE_USE_SYSTEM_CA', 'NODE_USE_ENV_PROXY'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE'],
  ...[
    'UV_INDEX',
    'UV_DEFAULT_INDEX',
    'UV_INDEX_URL',
    'UV_EXTRA_INDEX_URL',
    'UV_FIND_LINKS',
    'UV_INSECURE_HOST',
  ],
  ...['UV_NATIVE_TLS', 'UV_SYSTEM_CERTS', 'UV_CONFIG_FILE', 'UV_CACHE_DIR', 'UV_OFFLINE'],
  ...['UV_PYTHON_INSTALL_MIRROR', 'UV_PYPY_INSTALL_MIRROR'],
  ...['PIP_INDEX_URL', 'PIP_EXTRA_INDEX_URL', 'PIP_TRUSTED_HOST', 'PIP_CERT', 'PIP_CONFIG_FILE'],
  ...['DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_CONFIG', 'DOCKER_CERT_PATH', 'DOCKER_TLS_VERIFY'],
  ...['DOCKER_API_VERSION', 'DOCKER_DEFAULT_PLATFORM'],
]);
/** The same for npm, in every spelling that it accepts: `npm_config_x` in any case, with `-` or `_`. */
const NPM_REACH =
  /^npm_config_(registry|@[^:]+:registry|cafile|proxy|https?_proxy|noproxy|strict_ssl|cache|userconfig|globalconfig|offline|prefer_offline|fetch_\w+)$/;

/** The search path where PATH is not set, as in execvp(3). */
const DEFAULT_PATH = '/usr/local/bin:/bin:/usr/bin';
/** npx is beside the Node it came with, and a desktop program may have started the daemon without a shell's PATH. */
const NODE_FOLDER = dirname(process.execPath);

export function childEnvironment(
  daemon: Environment,
  spec: Pick<StdioSpec, 'env' | 'config'>,
  cookie: string,
): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(daemon)) {
    // a value like `() {…` is a function that an old shell would run
    if (value === undefined || value.startsWith('()')) continue;
    if (passes(name) || (isReach(name) && !holdsSecret(value))) env[name] = value;
  }
  env.PATH = withNodeFolder(env.PATH ?? DEFAULT_PATH);
  if (spec.config !== undefined) env.MCP_CONFIG = JSON.stringify(spec.config);
  for (const [name, value] of Object.entries(spec.env)) env[name] = value;
  env[COOKIE_NAME] = cookie;
  return env;
}

/** Names of variables that servers would get if their values held no password. */
export function withheldVariables(daemon: Environment): string[] {
  return Object.entries(daemon).flatMap(([name, value]) =>
    value !== undefined && isReach(name) && holdsSecret(value) ? [name] : [],
  );
}

function passes(name: string): boolean {
  return PASSED_ON.has(name) || name.startsWith('LC_') || PROXIES.has(name.toUpperCase());
}

function isReach(name: string): boolean {
  return REACH.has(name) || NPM_REACH.test(name.toLowerCase().replaceAll('-', '_'));
}

/** A url with userinfo, or with a query parameter that looks secret. A user name alone is no secret for ssh. */
function holdsSecret(value: string): boolean {
  return [...value.matchAll(/([a-z][a-z0-9+.-]*):\/\/([^\s]*)/gi)].some(([, scheme = '', rest = '']) => {
    // a password may hold `/`; after `host:80/` comes a path
    const userinfo = /^([^/?#@:]*:(?!\d{1,5}[/?#]).*|[^/?#@]*)@/.exec(rest)?.[1];
    if (userinfo !== undefined && (scheme.toLowerCase() !== 'ssh' || userinfo.includes(':'))) return true;
    return [...rest.matchAll(/[?&]([^=&]*)=/g)].some(([, name = '']) => looksSecret(name));
  });
}

function withNodeFolder(path: string): string {
  // an empty part would mean the working folder
  if (path === '') return NODE_FOLDER;
  return path.split(delimiter).includes(NODE_FOLDER) ? path : `${path}${delimiter}${NODE_FOLDER}`;
}
