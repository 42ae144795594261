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

/** The config that most MCP clients read, with these servers. Returns its path. */
export function writeServersConfig(/** @type {string} */ folder, /** @type {string[]} */ names) {
  const file = join(folder, 'servers.json');
  const entry = { command: ECHO[0], args: ECHO.slice(1) };
  writeFileSync(
    file,
    JSON.stringify({
      mcpServers: Object.fromEntries(names.map((/** @type {string} */ name) => [name, entry])),
    }),
  );
  return file;
}
