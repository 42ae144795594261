import type { WouldRun } from '../../config/trust.js';
import { escapeInvisible } from './visible.js';

/** What a person reads before saying yes, or after being told no. Nothing that the file says can look like our own words. */
export function describeWouldRun(file: string, list: readonly WouldRun[]): string {
  const lines = list.flatMap(({ name, transport, run, cwd, url, env, variables, envFile }) => [
    `  ${name} (${transport})`,
    run === undefined ? `    connects to  ${url}` : `    runs         ${run.map(quote).join(' ')}`,
    ...(cwd === undefined ? [] : [`    in           ${cwd}`]),
    ...(env.length === 0 ? [] : [`    sets         ${env.join(', ')}`]),
    ...(variables === undefined ? [] : [`    takes        ${variables.join(', ')}`]),
    ...(envFile === undefined ? [] : [`    reads        ${envFile}`]),
  ]);
  const shown = lines.length === 0 ? ['  run nothing'] : lines.map(escapeInvisible);
  return [`${escapeInvisible(file)} would, each time it is used:`, ...shown].join('\n');
}

/** The stable form for scripts. */
export function wouldRunJson(list: readonly WouldRun[]): Record<string, unknown>[] {
  return list.map(({ envFile, ...rest }) => (envFile === undefined ? rest : { ...rest, env_file: envFile }));
}

function quote(argument: string): string {
  return /^[\w@%+=:,./${}-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`;
}
