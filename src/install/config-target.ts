import { dirname, join, resolve } from 'node:path';
import { parseConfigFile, readAgentFile } from '../config/config-file.js';
import type { ListKey } from '../config/edit/index.js';
import type { FileContext, ParsedEntry, Report } from '../config/fields/parsed-entry.js';
import type { Settings } from '../config/fields/spec.js';
import { parseYaml } from '../config/parse/parse-yaml.js';
import { ConfigError, configError, fileProblem, type Problem } from '../config/parse/problem.js';
import { FileReadError, readIfExists } from '../config/parse/read-file.js';
import { UsageError } from '../shared/report/usage-error.js';
import type { InstallContext } from './context.js';
import { agentFileOf, loadOptions } from './load-options.js';

/** A file that servers are added to: the project's agent.yaml, or the global config. */
export interface ConfigFile {
  scope: 'local' | 'global';
  file: string;
  key: ListKey;
}

export function globalFile(context: InstallContext): ConfigFile {
  return { scope: 'global', file: loadOptions(context, undefined).configFile, key: 'mcp_servers' };
}

/** Undefined if there is none here or above. */
export function localFile(context: InstallContext): ConfigFile | undefined {
  const file = agentFileOf(context);
  return file === undefined ? undefined : { scope: 'local', file, key: 'tools' };
}

/** With -g the global config; else the nearest agent.yaml, or one to be made in this folder. */
export function chosenFile(context: InstallContext, isGlobal: boolean): ConfigFile {
  if (!isGlobal) {
    return (
      localFile(context) ?? { scope: 'local', file: join(resolve(context.cwd), 'agent.yaml'), key: 'tools' }
    );
  }
  if (context.globals.agent !== undefined)
    throw new UsageError('-g and --agent name different files', 'use one of them');
  return globalFile(context);
}

/** The text of a file; undefined if there is no such file. */
export function readText({ file }: ConfigFile): string | undefined {
  try {
    return readIfExists(file);
  } catch (error) {
    if (!(error instanceof FileReadError)) throw error;
    throw new ConfigError([fileProblem(file, error.message, error.fix)]);
  }
}

/** The MCP entries of a file, with their variables unexpanded. Throws a ConfigError with every problem. */
export function entriesOf(
  { scope, file }: ConfigFile,
  text: string,
  settings: Settings,
  isUserOwned: boolean,
  warn: Report,
): ParsedEntry[] {
  if (scope === 'global') return parseConfigFile(file, text, warn).entries;
  const { allowedCommands, allowHttp } = settings.security;
  const context: FileContext = {
    scope: 'agent',
    folder: dirname(file),
    // needed only to read envFiles, which a text alone does not do
    userHome: '',
    isUserOwned,
    allowedCommands,
    allowHttp,
  };
  const problems: Problem[] = [];
  const report: Report = (problem) => void problems.push(problem);
  const entries = readAgentFile(parseYaml(file, text), context, report, warn);
  if (problems.length > 0) throw configError(problems);
  return entries;
}

/** The settings of the global config, which say what an agent.yaml may run. */
export function settingsOf(context: InstallContext): Settings {
  const target = globalFile(context);
  return parseConfigFile(target.file, readText(target) ?? '').settings;
}
