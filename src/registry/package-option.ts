import { withEnvironmentNames } from '../config/entry/docker-arguments.js';
import { registryCommand, registryType, runnerOf } from '../config/packages/package-command.js';
import { type DataMap, isMap } from '../config/parse/document.js';
import { isVariableName, toVariableName } from '../config/variables/names.js';
import { parseReferences } from '../config/variables/variables.js';
import { expandTemplate, type Requirement, refer, requirementOf } from './expand-template.js';
import type { InstallOption, UnsupportedOption } from './install-option.js';

/** How a package of the registry is run. */
export function packageOption(pack: DataMap): InstallOption | UnsupportedOption {
  const kind = registryType(pack) ?? 'unknown';
  const server = typeof pack.identifier === 'string' ? pack.identifier : '';
  const refused = whyRefused(pack, kind, server);
  if (refused !== undefined) return { kind, server, refused };
  // without a version npx runs any version that its cache has; an identifier may end in a version
  const isLatest = kind === 'npm' && !pack.version && server.lastIndexOf('@') <= 0;
  const { command, args } = registryCommand(isLatest ? { ...pack, version: 'latest' } : pack)!;
  const { env, needs } = environmentOf(pack);
  const named = command === 'docker' ? dockerArguments(args, env) : args;
  const texts = [...named, ...Object.values(env)];
  const fields = { command, args: named, ...(Object.keys(env).length === 0 ? {} : { env }) };
  return {
    kind,
    transport: 'stdio',
    server,
    fields,
    needs: [...needs, ...requirementsIn(texts, needs, pack)],
  };
}

function whyRefused(pack: DataMap, kind: string, server: string): string | undefined {
  if (runnerOf(kind) === undefined) return `there is no runner for ${kind} packages here`;
  if (server === '') return 'it has no identifier';
  // the runner would take it for a flag
  if (server.startsWith('-')) return 'its identifier begins with a dash';
  const transport = isMap(pack.transport) ? pack.transport.type : undefined;
  if (transport === undefined) return 'it names no transport';
  if (transport === 'stdio') return undefined;
  return `its transport is ${transport}: start it yourself, then: toolherd add NAME --url URL`;
}

function environmentOf(pack: DataMap): { env: Record<string, string>; needs: Requirement[] } {
  const list = pack.environmentVariables ?? pack.environment_variables;
  // in the older snake_case a variable is required unless it says otherwise; today's registry says so of each
  const byDefault = pack.environmentVariables === undefined;
  const env: Record<string, string> = {};
  const needs: Requirement[] = [];
  for (const variable of Array.isArray(list) ? list.filter(isMap) : []) {
    const { name, value } = variable;
    if (typeof name !== 'string' || name === '') continue;
    if (typeof value === 'string' && value !== '') {
      const filled = expandTemplate(value, variable, toVariableName);
      env[name] = filled.text;
      needs.push(...filled.needs);
      continue;
    }
    const isRequired =
      (variable.isRequired ?? variable.is_required ?? variable.required ?? byDefault) === true;
    const asked = isVariableName(name) ? name : toVariableName(name);
    // An unset variable without a default fails the load, and an optional one must not.
    const { text, isOptional } = refer(asked, variable.default ?? (isRequired ? undefined : ''));
    env[name] = text;
    needs.push(requirementOf(asked, variable, isOptional));
  }
  return { env, needs };
}

/** The variables of the arguments that the environment does not already require. */
function requirementsIn(
  texts: readonly string[],
  known: readonly Requirement[],
  pack: DataMap,
): Requirement[] {
  const names = texts.flatMap(parseReferences).flatMap((part) => {
    return part.kind === 'variable' && part.fallback === undefined ? [part.name] : [];
  });
  const fresh = [...new Set(names)].filter((name) => known.every((need) => need.name !== name));
  const metadata = argumentMetadata(pack);
  return fresh.map((name) => requirementOf(name, metadata.get(name) ?? {}, false));
}

/** The metadata of the inputs among the arguments, by the name of the variable that stands for each. */
function argumentMetadata(pack: DataMap): Map<string, DataMap> {
  const lists = [
    pack.runtimeArguments ?? pack.runtime_arguments,
    pack.packageArguments ?? pack.package_arguments,
  ];
  const metadata = new Map<string, DataMap>();
  for (const argument of lists.flatMap((list) => (Array.isArray(list) ? list.filter(isMap) : []))) {
    const hint = argument.valueHint ?? argument.value_hint;
    if (typeof hint === 'string') metadata.set(toVariableName(hint), argument);
    for (const [name, about] of Object.entries(isMap(argument.variables) ? argument.variables : {})) {
      if (!isMap(about)) continue;
      metadata.set(toVariableName(name), about);
      const target = /^(\w+)=\{/.exec(String(argument.value))?.[1];
      if (target !== undefined) metadata.set(target, about);
    }
  }
  return metadata;
}

/**
 * `run -i --rm -e NAME image`. Docker passes no variables on unless they are named, and `ps` shows a value in its
 * arguments to every user: `-e NAME=${X}` becomes `-e NAME`, and the value moves to `env`.
 */
function dockerArguments(args: readonly string[], env: Record<string, string>): string[] {
  const clean = args.map((arg, index) => {
    const before = args[index - 1];
    const pair = before === '-e' || before === '--env' ? /^(\w+)=(.*\$\{.*)$/s.exec(arg) : null;
    if (pair === null) return arg;
    const [, name = '', value = ''] = pair;
    env[name] ??= /^\$\{\w+\}$/.test(value) ? `\${${name}}` : value;
    return name;
  });
  const flags = clean.slice(1).findIndex((arg) => arg !== '-i' && arg !== '--rm');
  const start = clean.slice(0, 1 + Math.max(0, flags));
  const [run = 'run', ...rest] = withEnvironmentNames(
    ['run', ...clean.slice(start.length)],
    Object.keys(env),
  );
  return [run, ...start.slice(1), ...rest];
}
