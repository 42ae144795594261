import { dirname, extname, resolve } from 'node:path';
import { loadConfig, loadEntry } from '../../../config/load.js';
import { isMap, type SourceDocument } from '../../../config/parse/document.js';
import { parseJson } from '../../../config/parse/parse-json.js';
import { parseYaml } from '../../../config/parse/parse-yaml.js';
import { ConfigError, fileProblem } from '../../../config/parse/problem.js';
import { FileReadError, readSmallFile } from '../../../config/parse/read-file.js';
import type { CommandContext } from '../../core/command.js';
import { loadOptions } from '../../core/config-paths.js';

export interface SourceFile {
  /** The folder that its paths are relative to. */
  folder: string;
  document: Record<string, unknown>;
}

/** Reads a file with one entry or source document. What is wrong with it is found here, where its lines are known. */
export async function readSourceFile(call: CommandContext, path: string): Promise<SourceFile> {
  const file = resolve(call.cwd, path);
  const folder = dirname(file);
  const source = read(file);
  const lenient = {
    ...loadOptions(call),
    agentFile: undefined,
    trustFile: undefined,
    variables: 'lenient' as const,
  };
  const { settings } = await loadConfig(lenient);
  // its variables are the daemon's business
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
