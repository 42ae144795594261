import { allowCommand } from '../config/edit/index.js';
import { BUILT_IN_COMMANDS } from '../config/fields/entry-fields.js';
import { ToolherdError } from '../shared/errors.js';
import { writeFileAtomically } from '../shared/files/write-user-file.js';
import { didYouMean } from '../shared/text/near-miss.js';
import { globalFile, readText, settingsOf } from './config-target.js';
import type { InstallContext } from './context.js';

/** No file has the entry yet, so the error has no position in one. */
export class UnwrittenEntryError extends ToolherdError {
  override readonly type = 'MCPConfigError';
}

/** What has to be added to security.allowed_commands for an entry: its command, or nothing. Throws without `consent`. */
export function commandsToAllow(
  context: InstallContext,
  { command }: Record<string, unknown>,
  consent: boolean,
): string[] {
  const allowed = [...new Set([...BUILT_IN_COMMANDS, ...settingsOf(context).security.allowedCommands])];
  if (typeof command !== 'string' || allowed.includes(command)) return [];
  if (consent) return [command];
  const near = didYouMean(command, allowed);
  const allow = `if you trust it, say --allow-command before --: that adds it to security.allowed_commands in ${globalFile(context).file}`;
  throw new UnwrittenEntryError(`Invalid command '${command}'. Supported commands: ${allowed.join(', ')}`, {
    why: 'nothing was written: the herd runs only commands that the global config allows',
    fix: near === '' ? allow : `${near} ${allow}`,
  });
}

/** Adds to security.allowed_commands, which only the global config has. */
export async function allowCommands(context: InstallContext, commands: readonly string[]): Promise<void> {
  const target = globalFile(context);
  const before = readText(target);
  const after = commands.reduce(allowCommand, before ?? '');
  const expected = before === undefined ? null : Buffer.from(before);
  await writeFileAtomically(target.file, after, { expected });
}
