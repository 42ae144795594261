import { type ErrorDetails, ToolherdError } from '../../shared/errors.js';
import type { ConfigProblem } from '../../shared/report/config-problem.js';

export type Problem = ConfigProblem;
export type Path = readonly (string | number)[];

const PLAIN_KEY = /^[A-Za-z_$][\w$-]*$/;

export function formatPath(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (!PLAIN_KEY.test(step)) text += `[${JSON.stringify(step)}]`;
    else text += text === '' ? step : `.${step}`;
  }
  return text;
}

/** A problem as printed: what, where, why, how to fix. */
export function formatProblem(problem: Problem, level: 'error' | 'warning' = 'error'): string {
  const path = problem.path === '' ? '' : ` (${problem.path})`;
  const where = `${problem.file}:${problem.line}:${problem.column}${path}`;
  const why = problem.why === undefined ? '' : `\n  why: ${problem.why}`;
  return `${level}: ${problem.type}: ${problem.message}\n  at ${where}${why}\n  fix: ${problem.fix}`;
}

/** A problem with the file as a whole, reported at its first line. */
export function fileProblem(file: string, message: string, fix: string): Problem {
  return { type: 'ConfigError', message, fix, file, line: 1, column: 1, path: '' };
}

/** A file with problems. Nothing of it is applied. */
export class ConfigError extends ToolherdError {
  override readonly type: string = 'ConfigError';
  readonly problems: readonly Problem[];

  constructor(
    problems: readonly Problem[],
    { message, ...details }: ErrorDetails & { message?: string } = {},
  ) {
    super(message ?? problems.map((problem) => formatProblem(problem)).join('\n'), details);
    this.problems = problems;
  }
}

/** A ConfigError whose problems are all in entries of servers. */
export class MCPConfigError extends ConfigError {
  override readonly type: string = 'MCPConfigError';
}

/** A ConfigError or MCPConfigError, by what the problems are about. */
export function configError(problems: readonly Problem[]): ConfigError {
  const isAboutEntries = problems.every(({ type }) => type !== 'ConfigError');
  return isAboutEntries ? new MCPConfigError(problems) : new ConfigError(problems);
}
