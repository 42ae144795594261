import type { Environment } from '../../shared/environment.js';
import { singleLine } from '../../shared/text/control-characters.js';
import type { ConfigProblem } from '../fleet.js';

/**
 * Problems of a config, with the environment of this command in mind. A daemon keeps the environment of the command that
 * started it, so a variable may be set here and not there: then the problem says so, with another fix.
 */
export function withCallerVariables<P extends ConfigProblem>(
  problems: readonly P[],
  environment: Environment,
): P[] {
  return problems.map((problem) => {
    const { variable } = problem;
    if (variable === undefined || !Object.hasOwn(environment, variable)) return problem;
    return { ...problem, ...onlyCallerHas(variable) };
  });
}

export const NOT_IN_DAEMON = 'but not in the environment that the daemon was started with';

/** `why` and `fix` for a variable that is set for this command and not for the daemon. */
export function onlyCallerHas(variable: string): { why: string; fix: string } {
  return {
    why: `${variable} is set in this shell, ${NOT_IN_DAEMON}`,
    fix: `run "toolherd up --replace" in this shell, or put ${variable} into an envFile`,
  };
}

/** What is wrong, where, and why if that is known. */
export function problemLine({ message, file, line, column, why }: ConfigProblem): string {
  const where = `${message}, at ${file}:${line}:${column}`;
  return singleLine(why === undefined ? where : `${where}; ${why}`);
}

/** What is wrong with the entry of one server, in one line. */
export function misconfiguredLine(
  server: string,
  problems: readonly ConfigProblem[],
  environment: Environment,
): string {
  const found = withCallerVariables(problems, environment);
  return singleLine(
    `${server}: ${found.map((problem) => `${problemLine(problem)}; fix: ${problem.fix}`).join('; ')}`,
  );
}
