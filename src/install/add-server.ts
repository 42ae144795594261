import { applyEdit } from '../config/edit/index.js';
import { ConfigError } from '../config/parse/problem.js';
import { allowCommands, commandsToAllow, UnwrittenEntryError } from './allow-commands.js';
import { type ConfigFile, globalFile } from './config-target.js';
import type { InstallContext } from './context.js';
import { editConfigFile } from './edit-config-file.js';
import { entriesIn, ourEntries } from './install-state.js';
import { fileDiff } from './line-diff.js';
import { type EntrySource, type NewEntry, newEntry } from './new-entry.js';
import { planInsert } from './plan-insert.js';
import { requirementJson } from './registry-format.js';
import { unsetVariables } from './unset-variables.js';

export interface AddOptions {
  /** Nothing is written. */
  dryRun: boolean;
  /** The command of the entry may be added to security.allowed_commands. */
  allowCommand: boolean;
  /** Lets a running daemon read the config. */
  tell(): Promise<void>;
}

/** What was added, or would be. */
export interface AddedServer extends NewEntry {
  target: ConfigFile;
  dryRun: boolean;
  /** As `diff -u` shows it, without secrets. */
  diff: string;
  /** Commands that were added to security.allowed_commands. */
  allowing: string[];
  /** Variables that it needs, and that are not set. */
  unset: NewEntry['needs'];
  /** Variables that are set, and are passed to it. */
  taken: NewEntry['needs'];
  /** False: it is the file of a project, and the user has not allowed it. */
  isAllowed: boolean;
}

/** Adds a server to a file: of the registry, a command, or a URL. */
export async function addServer(
  context: InstallContext,
  target: ConfigFile,
  source: EntrySource,
  { dryRun, allowCommand, tell }: AddOptions,
): Promise<AddedServer> {
  const fresh = await newEntry(context, target, source);
  const { entry, warnings } = fresh;
  const unset = unsetNeeds(context, fresh);
  const allowing = commandsToAllow(context, entry, allowCommand);
  let place = '';
  const plan = (text: string, warn: (words: string) => void) => {
    const edit = planInsert(text, target, fresh, warn, context.output.note);
    const last = ourEntries(applyEdit(text, edit), target).findLast(({ name }) => name === entry.name);
    place = `${target.key}[${last?.index}]`;
    return edit;
  };
  const insert = (text: string) => plan(text, (words) => void warnings.push(words));
  const refuse = (error: unknown): never => {
    throw withoutPlace(error, place);
  };
  if (allowing.length > 0 && !dryRun) {
    // nothing is allowed for an entry that cannot be written
    const check = (text: string) => plan(text, () => undefined);
    await editConfigFile(context, target, check, { dryRun: true, allowing }).catch(refuse);
    await allowCommands(context, allowing);
  }
  const edited = await editConfigFile(context, target, insert, {
    dryRun,
    tell: dryRun ? undefined : tell,
    allowing: dryRun ? allowing : [],
  }).catch(refuse);
  warnings.push(...overrides(context, target, entry.name));
  if (!dryRun) {
    const added = ourEntries(edited.after, target).filter(({ name }) => name === entry.name);
    const told = unset.map(({ name }) => name);
    warnings.push(...(await unsetVariables(context, target, added, told)));
  }
  return {
    ...fresh,
    target,
    dryRun,
    diff: fileDiff(target.file, edited.before, edited.after),
    allowing,
    unset,
    taken: fresh.needs.filter(({ name }) => isTaken(context, fresh, name)),
    isAllowed: edited.isAllowed,
  };
}

/** The stable form for scripts. */
export function addedJson(added: AddedServer): Record<string, unknown> {
  const { entry, target, needs, taken } = added;
  return {
    ok: true,
    name: entry.name,
    registry_name: added.registryName ?? null,
    version: added.version ?? null,
    scope: target.scope,
    file: target.file,
    dry_run: added.dryRun,
    diff: added.diff,
    needs: needs.map((need) => ({
      ...requirementJson(need),
      set: isGiven(added, need.name) || taken.includes(need),
    })),
    allowed: added.isAllowed,
    allowed_command: added.allowing[0] ?? null,
    warnings: added.warnings,
  };
}

/** The file does not have the entry, so a problem of it has no position there. `place`: where it would be. */
function withoutPlace(error: unknown, place: string): unknown {
  if (!(error instanceof ConfigError)) return error;
  const { problems } = error;
  if (place === '' || !problems.every(({ path }) => path.startsWith(place))) return error;
  return new UnwrittenEntryError(problems.map(({ message }) => message).join('; '), {
    why: 'nothing was written: the entry would be wrong',
    fix: [...new Set(problems.map(({ fix }) => fix))].join('; '),
  });
}

function unsetNeeds(context: InstallContext, fresh: NewEntry): NewEntry['needs'] {
  return fresh.needs.filter((need) => !need.isOptional && !isSet(context, fresh, need.name));
}

function isSet(context: InstallContext, fresh: NewEntry, name: string): boolean {
  return isGiven(fresh, name) || isTaken(context, fresh, name);
}

function isGiven({ entry }: NewEntry, name: string): boolean {
  const own = (entry.env as Record<string, string> | undefined)?.[name];
  return own !== undefined && !own.includes(`\${${name}`);
}

/** In the environment of this command; that of the daemon may differ. */
function isTaken({ environment }: InstallContext, fresh: NewEntry, name: string): boolean {
  return !isGiven(fresh, name) && environment[name] !== undefined;
}

function overrides(context: InstallContext, target: ConfigFile, name: string): string[] {
  if (target.scope === 'global' || entriesIn(globalFile(context)).every((entry) => entry.name !== name))
    return [];
  return [`in this project it overrides '${name}' of the global config`];
}
