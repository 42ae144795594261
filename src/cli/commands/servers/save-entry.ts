import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { readConfigFile } from '../../../config/config-file.js';
import { addEntry, editFile } from '../../../config/edit/index.js';
import { parseYaml } from '../../../config/parse/parse-yaml.js';
import { configError, type Problem } from '../../../config/parse/problem.js';
import { UsageError } from '../../core/command.js';
import type { SourceFile } from './source-file.js';

/** Writes an entry into a config.yaml; whatever is wrong leaves the file as it was. */
export async function saveEntry(configFile: string, source: SourceFile): Promise<void> {
  const entry = atHomeIn(dirname(configFile), source);
  mkdirSync(dirname(configFile), { recursive: true, mode: 0o700 });
  await editFile(
    configFile,
    (text) => addEntry(text, 'mcp_servers', entry),
    (text) => check(configFile, text),
  );
}

function check(file: string, text: string): void {
  const problems: Problem[] = [];
  const report = (problem: Problem) => void problems.push(problem);
  readConfigFile(parseYaml(file, text), dirname(file), report, () => undefined);
  if (problems.length > 0) throw configError(problems);
}

const PATHS = ['plugin_dir', 'mcp_plugin_dir', 'cwd'];
const LISTS = ['args', 'mcp_args'];

/** Paths are relative to the file they stand in: in another one they have to be whole. */
function atHomeIn(home: string, { folder, document }: SourceFile): Record<string, unknown> {
  if (folder === home) return document;
  const whole = (path: unknown) => (typeof path === 'string' ? resolve(folder, path) : path);
  const wholeIfPath = (arg: unknown) =>
    typeof arg === 'string' && /^\.{1,2}\//.test(arg) ? whole(arg) : arg;
  return Object.fromEntries(
    Object.entries(document).map(([name, value]) => {
      if (/^env_?file$/i.test(name)) throw envFileAway(name, home);
      if (PATHS.includes(name)) return [name, whole(value)];
      return [name, LISTS.includes(name) && Array.isArray(value) ? value.map(wholeIfPath) : value];
    }),
  );
}

function envFileAway(name: string, home: string): UsageError {
  const fix = `put the file and its ${name} into ${home}, or leave out --save`;
  return new UsageError(`'${name}' may not lie outside of the folder of the config`, fix);
}
