import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { type EditedFile, editFile, type TextEdit } from '../../../config/edit/index.js';
import { loadConfig } from '../../../config/load.js';
import { ConfigError } from '../../../config/parse/problem.js';
import { makePin, TrustRequiredError, TrustStore } from '../../../config/trust.js';
import { isUserOwnedFile } from '../../../config/trusted-path.js';
import type { CommandContext } from '../../core/command.js';
import { loadOptions } from '../../core/config-paths.js';
import { notifyConfigChange } from '../../daemon/notify-config-change.js';
import { type ConfigFile, entriesOf, settingsOf } from './config-file.js';

export interface ConfigEdit extends EditedFile {
  isNew: boolean;
  /** False: it is a project's file, and the user has not said that it may run. */
  isAllowed: boolean;
}

/**
 * Changes one entry of a file. A file that is made here is allowed, an allowed one stays so, any other does not become
 * it. A daemon that runs is told; it would see the file by itself, but not before the next command.
 */
export async function editConfigFile(
  call: CommandContext,
  target: ConfigFile,
  edit: (text: string) => TextEdit,
  { dryRun, tell }: { dryRun: boolean; tell: boolean },
): Promise<ConfigEdit> {
  const { file, scope } = target;
  const isNew = !existsSync(file);
  const settings = settingsOf(call);
  const isUserOwned = scope === 'global' || isUserOwnedFile(dirname(call.paths.configFile), file);
  const check = (text: string) => void entriesOf(target, text, settings, isUserOwned, () => undefined);
  const allowed = scope === 'global' ? undefined : isNew ? '' : await allowedText(call, file);
  // A new file is to be allowed, for which the global config has to load: found out before anything is written.
  if (allowed === '') await loadConfig({ ...lenient(call, file), agentFile: undefined });
  const edited = await editFile(file, edit, check, { dryRun });
  // another program may have written the file since it was looked at
  const isPinned = edited.before === allowed;
  const isTrusted = isPinned || isUserOwned || settings.security.trust === 'all';
  if (dryRun) return { ...edited, isNew, isAllowed: isTrusted };
  if (isPinned) await pin(call, file, edited.after);
  if (tell) await notifyConfigChange(call);
  return { ...edited, isNew, isAllowed: scope === 'global' || (await mayRun(call, file, isTrusted)) };
}

const lenient = (call: CommandContext, file: string) => ({
  ...loadOptions(call, file),
  variables: 'lenient' as const,
});

/** The text of a file that the user has allowed as it is now; undefined for any other. */
async function allowedText(call: CommandContext, file: string): Promise<string | undefined> {
  try {
    const { agent } = await loadConfig(lenient(call, file));
    if (agent === undefined) return undefined;
    const verdict = await new TrustStore(call.paths.trustFile).verdict(file, agent.text, agent.planned);
    return verdict === 'allowed' ? agent.text : undefined;
  } catch (error) {
    // What is wrong with it may be what the edit takes away; whether it can be edited is looked at there.
    if (error instanceof TrustRequiredError || error instanceof ConfigError) return undefined;
    throw error;
  }
}

/** Only what was written here is vouched for: not what another program has made of it since. */
async function pin(call: CommandContext, file: string, text: string): Promise<void> {
  const { agent } = await loadConfig({ ...lenient(call, file), trustFile: undefined });
  if (agent?.text !== text) return;
  await new TrustStore(call.paths.trustFile).allow(file, await makePin(text, agent.planned));
}

/** Of a file that cannot be loaded only `otherwise` is known. */
async function mayRun(call: CommandContext, file: string, otherwise: boolean): Promise<boolean> {
  try {
    await loadConfig(lenient(call, file));
    return true;
  } catch (error) {
    if (error instanceof ConfigError) return otherwise;
    if (error instanceof TrustRequiredError) return false;
    throw error;
  }
}
