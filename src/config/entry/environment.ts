import { looksSecret } from '../../shared/secret-name.js';
import { FileReadError } from '../parse/read-file.js';
import { readEnvFile } from '../variables/env-file.js';
import { Expander, howToSet, type LoadEnvironment, notFound } from '../variables/expander.js';
import { ENVIRONMENT, type VariableSource } from '../variables/variables.js';
import { refusedName } from './entry-rules.js';
import type { Plugin } from './manifest.js';
import { type ParsedEntry, type Report, stringMap } from './parsed-entry.js';

export interface Environment {
  /** What the server is given: envFile, then env over it, then what its plugin declares. */
  values: Record<string, string>;
  /** Where the other fields look variables up: env, envFile, the process. */
  sources: VariableSource[];
}

/** Puts together the environment that was declared for one server. */
export async function buildEnvironment(
  draft: ParsedEntry,
  plugin: Plugin | undefined,
  outside: LoadEnvironment,
  report: Report,
): Promise<Environment> {
  const fromFile = await envFileOf(draft, outside, report);
  const beyond: VariableSource[] = [{ label: ENVIRONMENT, values: outside.environment }];
  if (fromFile !== undefined) beyond.unshift({ label: String(draft.fields.envFile), values: fromFile });
  const expander = new Expander(draft, outside, beyond, report);
  const env = expander.map(stringMap(draft.fields.env), draft.at('env'));
  for (const [name, value] of Object.entries(env)) if (looksSecret(name)) outside.redactor.add(name, value);
  const values: Record<string, string> = Object.assign(Object.create(null), fromFile, env);
  if (plugin !== undefined) addDeclared(draft, plugin, values, outside, report);
  return { values, sources: [{ label: 'env', values: env }, ...beyond] };
}

async function envFileOf(
  draft: ParsedEntry,
  outside: LoadEnvironment,
  report: Report,
): Promise<Record<string, string> | undefined> {
  const path = draft.fields.envFile;
  if (typeof path !== 'string') return undefined;
  const fail = (message: string, fix: string) =>
    report(draft.document.problem('ConfigError', draft.at('envFile'), message, fix));
  try {
    const values = await readEnvFile(draft.context.folder, path);
    for (const [name, value] of Object.entries(values)) {
      outside.redactor.add(name, value);
      const refusal = refusedName(name, draft.context.isOwn);
      if (refusal !== undefined) fail(`${refusal} (in ${path})`, `remove it from ${path}`);
    }
    return values;
  } catch (error) {
    if (!(error instanceof FileReadError)) throw error;
    fail(`envFile: ${error.message}`, error.fix);
    return undefined;
  }
}

/** A plugin's declared variables may also come from the process: declaring them is what asks for them. */
function addDeclared(
  draft: ParsedEntry,
  plugin: Plugin,
  values: Record<string, string>,
  outside: LoadEnvironment,
  report: Report,
): void {
  for (const { name, required, secret, fallback } of plugin.declared) {
    const fail = (message: string, fix: string, variable?: string) => {
      const problem = draft.document.problem('ConfigError', draft.at('plugin_dir'), message, fix);
      report(variable === undefined ? problem : { ...problem, variable });
    };
    const refusal = refusedName(name, draft.context.isOwn);
    if (refusal !== undefined)
      fail(`${refusal} (declared in ${plugin.manifest.file})`, 'remove the declaration');
    if (!Object.hasOwn(values, name)) {
      const value =
        (Object.hasOwn(outside.environment, name) ? outside.environment[name] : undefined) ?? fallback;
      if (value !== undefined) values[name] = value;
      else if (required && outside.variables === 'strict') {
        const how = howToSet(name, outside.reader);
        const fix = `${how}, or write it in 'env': ${plugin.manifest.file} declares it as required`;
        fail(notFound(name), fix, name);
      }
    }
    if ((secret || looksSecret(name)) && values[name] !== undefined) outside.redactor.add(name, values[name]);
  }
}
