import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  allowCommand,
  type EditedFile,
  type EditOptions,
  editFile,
  type TextEdit,
} from '../config/edit/index.js';
import { loadConfig } from '../config/load.js';
import { ConfigError } from '../config/parse/problem.js';
import { AgentFileNotAllowedError, recordOf, TrustStore } from '../config/trust/trust.js';
import { isUserOwnedFile } from '../config/trust/trusted-path.js';
import { type ConfigFile, entriesOf, settingsOf } from './config-target.js';
import type { InstallContext } from './context.js';
import { lenientOptions } from './load-options.js';

export interface ConfigEdit extends EditedFile {
  isNew: boolean;
  /** False: it is the file of a project, and the user has not allowed it. */
  isAllowed: boolean;
}

export interface ConfigEditOptions extends Pick<EditOptions, 'assertChange'> {
  dryRun: boolean;
  /** Lets a running daemon read the config at once: it watches the file, but the next command may be faster. */
  tell?: (() => Promise<void>) | undefined;
  /** Commands that the global config is about to allow: the check takes them for allowed. */
  allowing?: readonly string[];
}

/**
 * Changes entries of a file. A file that this makes is allowed, an allowed file stays allowed, and any other file stays
 * not allowed.
 */
export async function editConfigFile(
  context: InstallContext,
  target: ConfigFile,
  edit: (text: string) => TextEdit,
  { dryRun, tell, assertChange, allowing = [] }: ConfigEditOptions,
): Promise<ConfigEdit> {
  const { file, scope } = target;
  const isNew = !existsSync(file);
  const settings = settingsOf(context);
  const isUserOwned = scope === 'global' || isUserOwnedFile(dirname(context.paths.configFile), file);
  const { allowedCommands } = settings.security;
  const security = { ...settings.security, allowedCommands: [...allowedCommands, ...allowing] };
  const check = (text: string) => {
    const whole = scope === 'global' ? allowing.reduce(allowCommand, text) : text;
    entriesOf(target, whole, { ...settings, security }, isUserOwned, () => undefined);
  };
  const allowed = scope === 'global' ? undefined : isNew ? '' : await allowedText(context, file);
  // to allow a new file, the global config has to load: checked before anything is written
  if (allowed === '') await loadConfig(lenientOptions(context, undefined, { trust: 'required' }));
  const edited = await editFile(file, edit, check, { dryRun, assertChange });
  // another program may have written the file since it was read
  const staysAllowed = edited.before === allowed;
  const isTrusted = staysAllowed || isUserOwned || settings.security.trust === 'all';
  if (dryRun) return { ...edited, isNew, isAllowed: isTrusted };
  if (staysAllowed) await allowText(context, file, edited.after);
  await tell?.();
  return { ...edited, isNew, isAllowed: scope === 'global' || (await mayRun(context, file, isTrusted)) };
}

/** The text of a file that the user has allowed as it is now; undefined for any other. */
async function allowedText(context: InstallContext, file: string): Promise<string | undefined> {
  try {
    const { agent } = await loadConfig(lenientOptions(context, file, { trust: 'required' }));
    if (agent === undefined) return undefined;
    const check = await new TrustStore(context.paths.trustFile).check(file, agent.text, agent.planned);
    return check === 'allowed' ? agent.text : undefined;
  } catch (error) {
    // the edit may remove what is wrong; whether the file can be edited is checked there
    if (error instanceof AgentFileNotAllowedError || error instanceof ConfigError) return undefined;
    throw error;
  }
}

/** Allows only the text that this command wrote, not what another program has written since. */
async function allowText(context: InstallContext, file: string, text: string): Promise<void> {
  const { agent } = await loadConfig(lenientOptions(context, file, { trust: 'ignored' }));
  if (agent?.text !== text) return;
  await new TrustStore(context.paths.trustFile).allow(file, await recordOf(text, agent.planned));
}

/** `otherwise`: the answer for a file that cannot be loaded. */
async function mayRun(context: InstallContext, file: string, otherwise: boolean): Promise<boolean> {
  try {
    await loadConfig(lenientOptions(context, file, { trust: 'required' }));
    return true;
  } catch (error) {
    if (error instanceof ConfigError) return otherwise;
    if (error instanceof AgentFileNotAllowedError) return false;
    throw error;
  }
}
