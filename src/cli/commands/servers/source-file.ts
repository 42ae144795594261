import { mkdirSync } from 'node:fs';
import { dirname, extname, resolve } from 'node:path';
import { parseConfigFile } from '../../../config/config-file.js';
import { addEntry, editFile } from '../../../config/edit/index.js';
import { loadConfig, loadEntry } from '../../../config/load.js';
import { isMap, type SourceDocument } from '../../../config/parse/document.js';
import { parseJson } from '../../../config/parse/parse-json.js';
import { parseYaml } from '../../../config/parse/parse-yaml.js';
import { ConfigError, fileProblem } from '../../../config/parse/problem.js';
import { FileReadError, readSmallFile } from '../../../config/parse/read-file.js';
import { isRelativePath } from '../../../config/parse/relative-path.js';
import { type CommandContext, UsageError } from '../../core/command.js';
import { lenientOptions } from '../../core/load-options.js';

export interface SourceFile {
  /** The folder that its paths are relative to. */
  folder: string;
  document: Record<string, unknown>;
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
  return { folder, document: JSON.parse(JSON.stringify(source.value)) };
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
  const absoluteIfPath = (arg: unknown) =>
    typeof arg === 'string' && isRelativePath(arg) ? absolute(arg) : arg;
  return Object.fromEntries(
    Object.entries(document).map(([name, value]) => {
      if (/^env_?file$/i.test(name)) throw envFileError(name, target);
      if (PATHS.includes(name)) return [name, absolute(value)];
      return [name, LISTS.includes(name) && Array.isArray(value) ? value.map(absoluteIfPath) : value];
    }),
  );
}

function envFileError(name: string, target: string): UsageError {
  const fix = `put the file and its ${name} into ${target}, or leave out --save`;
  return new UsageError(`'${name}' may not lie outside of the folder of the config`, fix);
}
