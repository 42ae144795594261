import { existsSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { ToolherdError } from '../../shared/errors.js';
import { shellWord } from '../../shared/text/shell-word.js';
import type { CommandContext } from '../core/command.js';

/** The file of --config is not there, or the daemon that runs reads another one. */
class ConfigFileError extends ToolherdError {
  override readonly type: string = 'ConfigError';
}

/** Throws if --config names a file that does not exist. */
export function checkNamedConfig(context: CommandContext): void {
  const file = namedConfig(context);
  if (file === undefined || existsSync(file)) return;
  throw new ConfigFileError(`${file} does not exist`, { fix: 'create it, or correct --config' });
}

/** Throws if --config names another file than the daemon reads. `used` is unknown for a daemon of an older version. */
export function checkDaemonConfig(context: CommandContext, used: string | undefined): void {
  const file = namedConfig(context);
  if (file === undefined || used === undefined || realPath(file) === realPath(used)) return;
  throw new ConfigFileError(`the daemon runs with ${used}, not with ${file}`, {
    why: 'one daemon serves a socket, and it keeps the config that it was started with',
    fix: `leave out --config; or replace the daemon: toolherd up --replace --config ${shellWord(file)}; or run a second one with another --socket`,
  });
}

function namedConfig({ globals, cwd }: CommandContext): string | undefined {
  return globals.config === undefined ? undefined : resolve(cwd, globals.config);
}

function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}
