import { resolve } from 'node:path';
import { BUILT_IN_COMMANDS, RUNTIMES } from '../fields/entry-fields.js';
import { type ParsedEntry, strings } from '../fields/parsed-entry.js';
import { type Plugin, readPlugin } from '../packages/plugin.js';
import { ConfigError, type Problem } from '../parse/problem.js';
import { FileReadError } from '../parse/read-file.js';

/** The command line of a stdio server as written, with nothing expanded. */
export interface LaunchCommand {
  command: string;
  /** `index`: its place in `args`; absent for arguments of a manifest. */
  args: { text: string; index?: number }[];
  /** As written; undefined: the folder of the file or of the plugin. */
  cwd: string | undefined;
  plugin: Plugin | undefined;
}

/** Determines what an entry would run. It reads a plugin's manifest and no other file. */
export function launchCommand(
  entry: ParsedEntry,
  report: (problem: Problem) => void,
): LaunchCommand | undefined {
  const own = strings(entry.fields.args).map((text, index) => ({ text, index }));
  const cwd = typeof entry.fields.cwd === 'string' ? entry.fields.cwd : undefined;
  const command = entry.fields.command as string | undefined;
  if (entry.fields.plugin_dir === undefined) {
    return { command: String(command), args: own, cwd, plugin: undefined };
  }
  const plugin = pluginOf(entry, report);
  if (plugin === undefined) return undefined;
  if (command !== undefined) return { command, args: own, cwd, plugin };
  if (!isRuntimeAllowed(entry, plugin, report)) return undefined;
  const args = [...plugin.args.map((text) => ({ text })), ...own];
  return { command: plugin.command, args, cwd, plugin };
}

function pluginOf(entry: ParsedEntry, report: (problem: Problem) => void): Plugin | undefined {
  try {
    return readPlugin(entry);
  } catch (error) {
    if (error instanceof ConfigError) error.problems.forEach(report);
    else if (error instanceof FileReadError) {
      report(entry.document.problem('MCPConfigError', entry.at('plugin_dir'), error.message, error.fix));
    } else throw error;
    return undefined;
  }
}

function isRuntimeAllowed(entry: ParsedEntry, plugin: Plugin, report: (problem: Problem) => void): boolean {
  const { isUserOwned, allowedCommands } = entry.context;
  const allowed = [...(isUserOwned ? RUNTIMES : BUILT_IN_COMMANDS), ...allowedCommands];
  if (allowed.includes(plugin.command)) return true;
  const message = `Invalid command '${plugin.command}'. Supported commands: ${allowed.join(', ')}`;
  const fix = isUserOwned
    ? `change the runtime in ${plugin.manifest.file}`
    : "put the entry into the global config, or add the command to 'security.allowed_commands' there";
  report(entry.document.problem('MCPConfigError', entry.at('plugin_dir'), message, fix));
  return false;
}

/** An argument with a leading ./ is a path from the folder of the file, whatever `cwd` is. Any other is left as it is. */
export function fromFolder(entry: ParsedEntry, written: string, expanded: string): string {
  return written.startsWith('./') ? resolve(entry.context.folder, expanded) : expanded;
}
