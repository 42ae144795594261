import type { WouldRun } from '../config/trust/trust.js';
import type { Profile } from '../shared/mcp/profile.js';
import { escapeInvisible } from '../shared/text/control-characters.js';

/** What a person reads before allowing a file, or when it is not allowed. No text of the file can look like ours. */
export function describeWouldRun(file: string, list: readonly WouldRun[]): string {
  const lines = list.flatMap(({ run, cwd, url, env, variables, envFile, envFileNames, roots, ...entry }) => [
    `  ${entry.name} (${entry.transport})`,
    run === undefined ? `    connects to  ${url}` : `    runs         ${run.map(quote).join(' ')}`,
    ...(cwd === undefined ? [] : [`    in           ${cwd}`]),
    ...(env.length === 0 ? [] : [`    sets         ${env.join(', ')}`]),
    ...(variables === undefined ? [] : [`    takes        ${variables.join(', ')}`]),
    ...(envFile === undefined ? [] : [`    reads        ${envFile}${settingOf(envFileNames)}`]),
    ...(roots === undefined ? [] : [`    may use      ${roots.map(quote).join(' ')}`]),
  ]);
  const safe = lines.length === 0 ? ['  run nothing'] : lines.map(escapeInvisible);
  return [`${escapeInvisible(file)} would, each time it is used:`, ...safe].join('\n');
}

/** What its profiles change in tools, also in those of the user. Empty where they change none. */
export function describeProfiles(profiles: readonly Profile[]): string {
  const lines = profiles.flatMap(({ name, rename, describe, defaults }) => {
    const filled = Object.entries(defaults).map(
      ([tool, given]) => `${tool} (${Object.keys(given).join(', ')})`,
    );
    const changes = [
      ['renames', Object.entries(rename).map(([tool, to]) => `${tool} to ${to}`)],
      ['describes', Object.entries(describe).map(([tool, words]) => `${tool}: ${words}`)],
      ['fills in', filled],
    ] as const;
    const shown = changes.flatMap(([verb, tools]) =>
      tools.map((tool) => `    ${verb.padEnd(11)}  ${escapeInvisible(tool)}`),
    );
    return shown.length === 0 ? [] : [`  profile ${name}`, ...shown];
  });
  return lines.join('\n');
}

/** The stable form for scripts. */
export function wouldRunJson(list: readonly WouldRun[]): Record<string, unknown>[] {
  return list.map(({ envFile, envFileNames, ...rest }) => ({
    ...rest,
    ...(envFile === undefined ? {} : { env_file: envFile }),
    ...(envFileNames === undefined ? {} : { env_file_names: envFileNames }),
  }));
}

/** The names that an envFile sets. */
function settingOf(names: readonly string[] | undefined): string {
  if (names === undefined) return '';
  return names.length === 0 ? ', which sets nothing' : `, which sets ${names.join(', ')}`;
}

function quote(argument: string): string {
  return /^[\w@%+=:,./${}-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`;
}
