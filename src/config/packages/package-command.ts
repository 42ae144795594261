import { type Data, type DataMap, isMap } from '../parse/document.js';
import { toVariableName } from '../variables/names.js';

/** An environment variable that a package declares. */
export interface Declared {
  name: string;
  required: boolean;
  secret: boolean;
  fallback: string | undefined;
}

/** How a package is run. In `args`, `${NAME}` is a variable of the user; a literal dollar sign is written `$$`. */
export interface PackageCommand {
  command: string;
  args: string[];
  declared: Declared[];
}

const RUNNERS: Readonly<Record<string, string>> = {
  npm: 'npx',
  pypi: 'uvx',
  oci: 'docker',
  docker: 'docker',
};

/** The registry uses camelCase today and used snake_case before. */
function either(map: DataMap, camel: string, snake: string): Data | undefined {
  return map[camel] ?? map[snake];
}

/** The type of a registry package; undefined for a package in another form. */
export function registryType(pack: DataMap): string | undefined {
  const type = either(pack, 'registryType', 'registry_type');
  return typeof type === 'string' ? type : undefined;
}

export function runnerOf(type: string): string | undefined {
  return Object.hasOwn(RUNNERS, type) ? RUNNERS[type] : undefined;
}

/** The command for a package in the official registry's form; undefined when there is no runner for its type. */
export function registryCommand(pack: DataMap): PackageCommand | undefined {
  const command = runnerOf(registryType(pack) ?? '');
  const identifier = pack.identifier;
  if (command === undefined || typeof identifier !== 'string') return undefined;
  const version = typeof pack.version === 'string' && pack.version !== '' ? pack.version : undefined;
  const before = argumentsOf(either(pack, 'runtimeArguments', 'runtime_arguments'));
  const after = argumentsOf(either(pack, 'packageArguments', 'package_arguments'));
  const declared = declaredVariables(either(pack, 'environmentVariables', 'environment_variables'));
  const run = invocation(command, escapeDollars(identifier), version && escapeDollars(version), before);
  return { command, args: [...run, ...after], declared };
}

function invocation(
  command: string,
  identifier: string,
  version: string | undefined,
  before: string[],
): string[] {
  if (command === 'npx') {
    const yes = before.includes('-y') || before.includes('--yes') ? [] : ['-y'];
    return [...yes, ...before, version === undefined ? identifier : `${identifier}@${version}`];
  }
  if (command === 'uvx') return [...before, version === undefined ? identifier : `${identifier}==${version}`];
  // Some entries already have `run -i --rm` and the image among their runtime arguments.
  const image =
    /[:@][^/]*$/.test(identifier) || version === undefined ? identifier : `${identifier}:${version}`;
  const given = before[0] === 'run' ? before.slice(1) : before;
  const wanted = ['-i', '--rm'].filter((flag) => !given.includes(flag));
  const names = given.some((argument) => argument === identifier || argument === image) ? [] : [image];
  return ['run', ...wanted, ...given, ...names];
}

/** Converts the registry's form of arguments to an argv. */
function argumentsOf(list: Data | undefined): string[] {
  if (!Array.isArray(list)) return [];
  return list.filter(isMap).flatMap((argument) => {
    const value = inputText(argument);
    const name = typeof argument.name === 'string' ? argument.name : undefined;
    if (argument.type !== 'named') return value === undefined ? [] : [value];
    if (name === undefined) return [];
    // A flag has a name and no value.
    if (value === undefined) return argument.isRequired === true || argument.value === '' ? [name] : [];
    return name.endsWith('=') ? [name + value] : [name, value];
  });
}

/** The text for an input: its value with `{variables}` filled in, its default, or a variable of the user. */
function inputText(input: DataMap): string | undefined {
  const value = input.value ?? input.default;
  const variables = isMap(input.variables) ? input.variables : {};
  if (typeof value === 'string' && value !== '') {
    return escapeDollars(value).replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => {
      const variable = Object.hasOwn(variables, name) ? variables[name] : undefined;
      if (!isMap(variable)) return placeholder;
      const known = variable.value ?? variable.default;
      return typeof known === 'string' ? escapeDollars(known) : referenceTo(name);
    });
  }
  const hint = either(input, 'valueHint', 'value_hint');
  return (input.isRequired ?? input.is_required) === true && typeof hint === 'string'
    ? referenceTo(hint)
    : undefined;
}

export function escapeDollars(text: string): string {
  return text.replaceAll('$', '$$$$');
}

function referenceTo(name: string): string {
  return `\${${toVariableName(name)}}`;
}

export function declaredVariables(list: Data | undefined): Declared[] {
  if (!Array.isArray(list)) return [];
  return list.filter(isMap).flatMap((variable) => {
    const name = variable.name;
    if (typeof name !== 'string' || name === '') return [];
    const fallback = variable.value ?? variable.default;
    return [
      {
        name,
        required: either(variable, 'isRequired', 'required') === true,
        secret: either(variable, 'isSecret', 'secret') === true,
        fallback: typeof fallback === 'string' ? fallback : undefined,
      },
    ];
  });
}
