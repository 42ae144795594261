import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The command of the server that every system runs, and how many tools it has.
 * @type {Bench.Argv}
 */
export const ECHO = [process.execPath, join(import.meta.dirname, '..', 'echo.mjs')];
export const TOOLS = 4;

export const namesOf = (/** @type {number} */ count) => Array.from({ length: count }, (_, at) => `e${at}`);

/** Children for agents that start their own. */
export const childrenOf = (/** @type {string[]} */ names) =>
  Object.fromEntries(names.map((/** @type {string} */ name) => [name, ECHO]));

/** npm's cache: peers have homes of their own, and a server that they start with npx shall not be downloaded again. */
export const NPM_CACHE = join(import.meta.dirname, '..', '..', '.cache', 'bench', 'npm');

/** Names stand for servers that echo. */
const withCommands = (/** @type {Bench.Commands} */ servers) =>
  Array.isArray(servers) ? childrenOf(servers) : servers;

export const namesIn = (/** @type {Bench.Commands} */ servers) => Object.keys(withCommands(servers));

/** Entries of a config, by the names of the servers. */
export const entriesOf = (/** @type {Bench.Commands} */ servers, more = {}) =>
  Object.fromEntries(
    Object.entries(withCommands(servers)).map(([name, [command, ...args]]) => [
      name,
      { command, args, env: { npm_config_cache: NPM_CACHE }, ...more },
    ]),
  );

/** The config that most MCP clients read, with these servers. Returns its path. */
export function writeServersConfig(/** @type {string} */ folder, /** @type {Bench.Commands} */ servers) {
  const file = join(folder, 'servers.json');
  writeFileSync(file, JSON.stringify({ mcpServers: entriesOf(servers) }));
  return file;
}
