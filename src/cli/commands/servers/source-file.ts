import { mkdirSync } from 'node:fs';
import { dirname, extname, resolve } from 'node:path';
import { parseConfigFile } from '../../../config/config-file.js';
import { addEntry, editFile } from '../../../config/edit/index.js';
import { loadConfig, loadEntry } from '../../../config/load.js';
import { eachString, isMap, type SourceDocument } from '../../../config/parse/document.js';
import { parseJson } from '../../../config/parse/parse-json.js';
import { parseYaml } from '../../../config/parse/parse-yaml.js';
import { ConfigError, fileProblem, formatPath, type Path } from '../../../config/parse/problem.js';
import { FileReadError, readSmallFile } from '../../../config/parse/read-file.js';
import { isRelativePath } from '../../../config/parse/relative-path.js';
import { importedVariableName } from '../../../config/variables/names.js';
import { hasReferences } from '../../../config/variables/variables.js';
import { lenientOptions } from '../../../install/load-options.js';
import { secretWarning } from '../../../install/secret-warning.js';
import { isToken } from '../../../shared/secrets/hide-secrets.js';
import type { CommandContext } from '../../core/command.js';

export interface SourceFile {
  /** The folder that its paths are relative to. */
  folder: string;
  document: Record<string, unknown>;
  /** A warning for each secret that it has in plain text. */
  secrets: string[];
}

/** Reads a file with one entry or source document, and checks it here, where its line numbers are known. */
export async function readSourceFile(context: CommandContext, path: string): Promise<SourceFile> {
  const file = resolve(context.cwd, path);
  const folder = dirname(file);
  const source = read(file);
  const lenient = lenientOptions(context, undefined, { trust: 'ignored' });
  const { settings } = await loadConfig(lenient);
  // the daemon resolves its variables, with its own environment
  await loadEntry(source, folder, settings, lenient);
  // without an environment the redactor knows only values of the file itself: declared secrets, and those with such a name
  const { redactor } = await loadEntry(source, folder, settings, { ...lenient, environment: {} });
  const secrets: string[] = [];
  eachString(source.value, [], (text, path) => {
    const isTreated = !hasReferences(text) && redactor.redact(text) !== text;
    if (!isTreated && !isToken(text)) return;
    const what = isTreated ? 'is treated as a secret' : 'looks like a secret';
    secrets.push(secretWarning(`${formatPath(path)} ${what}`, variableAt(path)));
  });
  return { folder, document: JSON.parse(JSON.stringify(source.value)), secrets };
}

/** The name of a variable for the value at this path; of an item of a list, that of the list. */
function variableAt(path: Path): string {
  return importedVariableName(String(path.findLast((part) => typeof part === 'string')));
}

function read(file: string): SourceDocument {
  const fail = (message: string, fix: string) => new ConfigError([fileProblem(file, message, fix)]);
  let text: string;
  try {
    text = readSmallFile(file);
  } catch (error) {
    throw error instanceof FileReadError ? fail(error.message, error.fix) : error;
  }
  const source = extname(file) === '.json' ? parseJson(file, text) : parseYaml(file, text);
  if (isMap(source.value)) return source;
  throw fail('This is neither an entry nor a source document', "write one map with a 'name'");
}

/** Writes the entry into a config.yaml. If anything is wrong, the file stays as it was. */
export async function saveEntry(configFile: string, source: SourceFile): Promise<void> {
  const entry = movedTo(dirname(configFile), source);
  mkdirSync(dirname(configFile), { recursive: true, mode: 0o700 });
  await editFile(
    configFile,
    (text) => addEntry(text, 'mcp_servers', entry),
    (text) => void parseConfigFile(configFile, text),
  );
}

const PATHS = ['plugin_dir', 'mcp_plugin_dir', 'cwd'];
const LISTS = ['args', 'mcp_args'];

/** The document for a file in another folder: its relative paths become absolute. */
function movedTo(target: string, { folder, document }: SourceFile): Record<string, unknown> {
  if (folder === target) return document;
  const absolute = (path: unknown) => (typeof path === 'string' ? resolve(folder, path) : path);
  // with its own cwd, which becomes absolute, only ./ is relative to the file
  const isPath = document.cwd === undefined ? isRelativePath : (arg: string) => arg.startsWith('./');
  const absoluteIfPath = (arg: unknown) => (typeof arg === 'string' && isPath(arg) ? absolute(arg) : arg);
  return Object.fromEntries(
    Object.entries(document).map(([name, value]) => {
      if (/^env_?file$/i.test(name) && typeof value === 'string') return [name, envFileFrom(folder, value)];
      if (PATHS.includes(name)) return [name, absolute(value)];
      return [name, LISTS.includes(name) && Array.isArray(value) ? value.map(absoluteIfPath) : value];
    }),
  );
}

/** `${workspaceFolder}` is another folder in the config; `${userHome}` is the same. */
function envFileFrom(folder: string, path: string): string {
  return path.startsWith('${userHome}')
    ? path
    : resolve(folder, path.replaceAll('${workspaceFolder}', folder));
}
