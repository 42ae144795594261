import { join } from 'node:path';

const FIXTURES = join(import.meta.dirname, '..', 'fixtures');

/**
 * Seconds for `daemon.list_wait`. A busy machine may need more than its default of 2 s to boot a server: a list must not
 * depend on that. Tests of `list_wait` set their own.
 */
export const LIST_WAIT = 30;

export const fixturePath = (file: string) => join(FIXTURES, file);

export type Entry = Record<string, unknown> & { name: string };

/** An entry for one of the small servers. It is given little time to go, so that no test waits for it at its end. */
export function server(name: string, file: string, fields: Record<string, unknown> = {}): Entry {
  const { args = [], ...rest } = fields as { args?: readonly string[] };
  return command(name, process.execPath, [fixturePath(file), ...args], rest);
}

export function command(
  name: string,
  program: string,
  args: readonly string[],
  fields: Record<string, unknown> = {},
): Entry {
  const stop = { close: 1, term: 0.5 };
  return { name, description: name, server: name, command: program, args, stop, ...fields };
}

/** The text of a config.yaml. */
export function config(servers: readonly Entry[], daemon: Record<string, unknown> = {}): string {
  return lines(servers, daemon).join('');
}

/** The same, a server a line: each line more is a whole config again. What is in the lines is JSON, which is YAML. */
export function lines(servers: readonly Entry[], daemon: Record<string, unknown> = {}): string[] {
  const allowed = new Set(
    servers.map((entry) => entry.command).filter((program) => program !== undefined && program !== 'npx'),
  );
  return [
    'version: "1.0"\n',
    `daemon: ${JSON.stringify({ list_wait: LIST_WAIT, ...daemon })}\n`,
    `security: {allowed_commands: ${JSON.stringify([...allowed])}}\n`,
    servers.length === 0 ? '' : 'mcp_servers:\n',
    ...servers.map((entry) => `  - ${JSON.stringify(entry)}\n`),
  ];
}
