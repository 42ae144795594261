import { allowCommand, writeFileAtomically } from '../../config/edit/index.js';
import { ConfigError } from '../../config/problem.js';
import { ToolherdError } from '../../errors.js';
import { claimName } from '../claim-name.js';
import { editHerdFile } from '../edit-herd-file.js';
import { globalFile, type HerdFile, textOf } from '../herd-file.js';
import type { Call } from '../verb.js';
import type { Planned } from './plan.js';

/** Writes one server, or with `dryRun` finds out whether it could be. What is against it is told, and the others go on. */
export async function writeOne(call: Call, target: HerdFile, one: Planned, dryRun: boolean): Promise<void> {
  const { entry } = one;
  // HoloDeck's come from the registry, and say so.
  const registryName = typeof entry.registry_name === 'string' ? entry.registry_name : undefined;
  const fresh = { entry, registryName, version: undefined, needs: [], warnings: [] };
  const warn = (words: string) => void one.found.remarks.push(words);
  try {
    await editHerdFile(call, target, (text) => claimName(text, target, fresh, warn), { dryRun, tell: false });
    if (!dryRun) one.result = 'added';
  } catch (error) {
    if (!(error instanceof ToolherdError)) throw error;
    const isThere = error.type === 'DuplicateError';
    one.result = isThere ? 'skipped' : 'failed';
    one.why = isThere ? 'a server of that name is there already' : reasonOf(error);
  }
}

/** Lets the herd run more commands than before. The global config alone can say so. */
export async function allowCommands(call: Call, commands: readonly string[]): Promise<void> {
  const { file } = globalFile(call);
  const before = textOf(globalFile(call));
  const after = commands.reduce(allowCommand, before);
  await writeFileAtomically(file, after, { expected: before === '' ? undefined : Buffer.from(before) });
}

/** One line, without the place in a file that was not written. */
function reasonOf(error: ToolherdError): string {
  return error instanceof ConfigError
    ? [...new Set(error.problems.map(({ message }) => message))].join('; ')
    : error.message;
}
