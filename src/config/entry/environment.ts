import { looksSecret } from '../../shared/secrets/secret-name.js';
import { type ParsedEntry, type Report, stringMap } from '../fields/parsed-entry.js';
import type { Plugin } from '../packages/plugin.js';
import { FileReadError } from '../parse/read-file.js';
import { readEnvFile } from '../variables/env-file.js';
import { Expander, howToSet, type LoadEnvironment, notFound } from '../variables/expander.js';
import { ENVIRONMENT, type VariableSource } from '../variables/variables.js';
import { refusedName } from './refused-names.js';

export interface DeclaredEnvironment {
  /** The server's variables: envFile, overridden by env, then what its plugin declares. */
  values: Record<string, string>;
  /** Where the other fields look up variables: env, envFile, the process. */
  sources: VariableSource[];
}

/** Builds the declared environment of one server. */
export async function buildEnvironment(
  entry: ParsedEntry,
  plugin: Plugin | undefined,
  loadEnvironment: LoadEnvironment,
  report: Report,
): Promise<DeclaredEnvironment> {
  const fromFile = await readEnvFileOf(entry, report);
  for (const [name, value] of Object.entries(fromFile ?? {})) loadEnvironment.redactor.add(name, value);
  const beyond: VariableSource[] = [{ label: ENVIRONMENT, values: loadEnvironment.environment }];
  if (fromFile !== undefined) beyond.unshift({ label: String(entry.fields.envFile), values: fromFile });
  const expander = new Expander(entry, loadEnvironment, beyond, report);
  const env = expander.map(stringMap(entry.fields.env), entry.at('env'));
  for (const [name, value] of Object.entries(env))
    if (looksSecret(name)) loadEnvironment.redactor.add(name, value);
  const values: Record<string, string> = Object.assign(Object.create(null), fromFile, env);
  if (plugin !== undefined) addDeclared(entry, plugin, values, loadEnvironment, report);
  return { values, sources: [{ label: 'env', values: env }, ...beyond] };
}

/** The content of an entry's envFile; undefined if it has none, or it cannot be read, which is reported. */
export async function readEnvFileOf(
  entry: ParsedEntry,
  report: Report,
): Promise<Record<string, string> | undefined> {
  const path = entry.fields.envFile;
  if (typeof path !== 'string') return undefined;
  const fail = (message: string, fix: string) =>
    report(entry.document.problem('ConfigError', entry.at('envFile'), message, fix));
  try {
    const values = await readEnvFile(entry.context, path);
    for (const name of Object.keys(values)) {
      const refusal = refusedName(name, entry.context.isUserOwned);
      if (refusal !== undefined) fail(`${refusal} (in ${path})`, `remove it from ${path}`);
    }
    return values;
  } catch (error) {
    if (!(error instanceof FileReadError)) throw error;
    fail(`envFile: ${error.message}`, error.fix);
    return undefined;
  }
}

/** A plugin's declared variables may also come from the environment of the process: the declaration asks for them. */
function addDeclared(
  entry: ParsedEntry,
  plugin: Plugin,
  values: Record<string, string>,
  loadEnvironment: LoadEnvironment,
  report: Report,
): void {
  for (const { name, required, secret, fallback } of plugin.declared) {
    const fail = (message: string, fix: string, variable?: string) => {
      const problem = entry.document.problem('ConfigError', entry.at('plugin_dir'), message, fix);
      report(variable === undefined ? problem : { ...problem, variable });
    };
    const refusal = refusedName(name, entry.context.isUserOwned);
    if (refusal !== undefined)
      fail(`${refusal} (declared in ${plugin.manifest.file})`, 'remove the declaration');
    if (!Object.hasOwn(values, name)) {
      const value =
        (Object.hasOwn(loadEnvironment.environment, name) ? loadEnvironment.environment[name] : undefined) ??
        fallback;
      if (value !== undefined) values[name] = value;
      else if (required && loadEnvironment.variables === 'strict') {
        const how = howToSet(name, loadEnvironment.reader);
        const fix = `${how}, or write it in 'env': ${plugin.manifest.file} declares it as required`;
        fail(notFound(name), fix, name);
      }
    }
    if ((secret || looksSecret(name)) && values[name] !== undefined)
      loadEnvironment.redactor.add(name, values[name]);
  }
}
