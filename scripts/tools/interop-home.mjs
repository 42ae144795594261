// A home folder as a user has one: the command on the PATH, the config in its place, and a file that names the bridge.
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { execaSync } from 'execa';
import { install, installNode } from '../shared/install.mjs';

const root = join(import.meta.dirname, '..', '..');

/** @typedef {ReturnType<typeof makeHome>} Home */
/** @typedef {import('./interop-sdks.mjs').Client} Client */

export function makeHome() {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'toolherd-interop-')));
  const environment = {
    PATH: [join(home, 'bin'), dirname(process.execPath), process.env.PATH].join(delimiter),
    HOME: home,
    MCP_INSPECTOR_SECRET_STORE: 'memory',
    ...npmSettings(),
  };
  const command = join(home, 'bin', 'toolherd');
  mkdirSync(join(home, 'bin'));
  writeFileSync(
    command,
    `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'dist', 'bin', 'main.cjs')}' "$@"\n`,
  );
  chmodSync(command, 0o755);
  const attached = { mcpServers: { herd: { command: 'toolherd', args: ['bridge'] } } };
  writeFileSync(join(home, 'mcp.json'), JSON.stringify(attached));

  const toolherd = (/** @type {string[]} */ ...words) => {
    const options = { cwd: home, env: environment, extendEnv: false, stdin: /** @type {const} */ ('ignore') };
    return execaSync(command, words, { ...options, maxBuffer: 2 ** 28 }).stdout;
  };
  return {
    folder: home,
    toolherd,
    /** Writes the config, and starts a daemon. */
    start(/** @type {object} */ config) {
      mkdirSync(join(home, '.config', 'toolherd'), { recursive: true });
      writeFileSync(join(home, '.config', 'toolherd', 'config.yaml'), JSON.stringify(config));
      toolherd('up');
    },
    /** Installs a client, and connects it. */
    open(/** @type {Client} */ client) {
      const { folder } = install(client.package, {
        folder: `interop/${client.package.replaceAll('/', '+')}`,
      });
      const node = client.node === undefined ? process.execPath : installNode(client.node);
      return client.open({ folder, node, home, environment, config: join(home, 'mcp.json') });
    },
    /** The first line of an error, without paths of this machine. */
    firstLine(/** @type {unknown} */ error) {
      const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
      return line.replaceAll('|', '/').replaceAll(root, '.').replaceAll(home, '~').slice(0, 200);
    },
    end() {
      toolherd('down');
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/**
 * An entry of a config that runs a program with node.
 * @param {string} name
 * @param {string[]} args
 */
export function entry(name, ...args) {
  return { name, description: name, server: name, command: 'node', args };
}

/** The registry, proxy and login of the user, whose home the herd does not have. */
function npmSettings() {
  const settings = Object.entries(process.env).filter(([name]) =>
    /^npm_config_|_proxy$|_CA_CERTS$/i.test(name),
  );
  return {
    npm_config_userconfig: join(homedir(), '.npmrc'),
    npm_config_cache: join(root, '.cache', 'npm'),
    ...Object.fromEntries(settings),
  };
}
