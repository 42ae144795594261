import type { TextEdit } from '../../../config/edit/index.js';
import { ConfigError } from '../../../config/parse/problem.js';
import { type ConfigFile, readText } from '../../../install/config-target.js';
import { editConfigFile } from '../../../install/edit-config-file.js';
import { planInsert } from '../../../install/plan-insert.js';
import { ToolherdError } from '../../../shared/errors.js';
import type { CommandContext } from '../../core/command.js';
import type { Planned } from './plan.js';

/** Writes one server, or with `dryRun` checks whether it could be written. */
export async function writeOne(
  context: CommandContext,
  target: ConfigFile,
  one: Planned,
  dryRun: boolean,
): Promise<void> {
  await attempt(one, async (claim) => {
    await editConfigFile(context, target, (text) => claim(text, target), { dryRun });
    if (!dryRun) one.result = 'added';
  });
}

/** Before the user is asked to allow the command of a server: its name is all that can be checked. */
export async function checkName(target: ConfigFile, one: Planned): Promise<void> {
  await attempt(one, async (claim) => void claim(readText(target) ?? '', target));
}

type Claim = (text: string, target: ConfigFile) => TextEdit;

/** Records why a server cannot be written, and lets the others go on. */
async function attempt(one: Planned, work: (claim: Claim) => Promise<void>): Promise<void> {
  const { entry } = one;
  // servers of HoloDeck come from the registry, and have its name
  const registryName = typeof entry.registry_name === 'string' ? entry.registry_name : undefined;
  const fresh = { entry, registryName, version: undefined, needs: [], warnings: [] };
  const { remarks } = one.found;
  // the check and the write give the same warning
  const warn = (words: string) => void (remarks.includes(words) || remarks.push(words));
  try {
    await work((text, target) => planInsert(text, target, fresh, warn));
  } catch (error) {
    if (!(error instanceof ToolherdError)) throw error;
    const isThere = error.type === 'DuplicateError';
    one.result = isThere ? 'skipped' : 'failed';
    one.why = isThere ? 'a server of that name is there already' : reasonOf(error);
  }
}

/** One line, without a position in a file that was not written. */
function reasonOf(error: ToolherdError): string {
  return error instanceof ConfigError
    ? [...new Set(error.problems.map(({ message }) => message))].join('; ')
    : error.message;
}
