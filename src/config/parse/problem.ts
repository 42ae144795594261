import { ToolherdError } from '../../shared/errors.js';

/** One thing wrong in one file, with its place. A file's problems are reported all at once. */
export interface Problem {
  type: 'ConfigError' | 'MCPConfigError' | 'ValidationError';
  message: string;
  /** The cause, where the message alone does not say it. */
  why?: string;
  fix: string;
  file: string;
  /** 1-based, as editors count. */
  line: number;
  column: number;
  /** Where in the document, e.g. `tools[2].env.API_KEY`; empty for the file as a whole. */
  path: string;
  /** The name of the variable that is not set, where that is the problem. */
  variable?: string;
}

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

/** The lines of one problem as a person reads them: what, where, why, how to fix. */
export function formatProblem(problem: Problem, level: 'error' | 'warning' = 'error'): string {
  const path = problem.path === '' ? '' : ` (${problem.path})`;
  const where = `${problem.file}:${problem.line}:${problem.column}${path}`;
  const why = problem.why === undefined ? '' : `\n  why: ${problem.why}`;
  return `${level}: ${problem.type}: ${problem.message}\n  at ${where}${why}\n  fix: ${problem.fix}`;
}

/** A problem with a file as a whole: it has no line, so its first one is named. */
export function fileProblem(file: string, message: string, fix: string): Problem {
  return { type: 'ConfigError', message, fix, file, line: 1, column: 1, path: '' };
}

/** A file that cannot be used. Nothing of it is applied. */
export class ConfigError extends ToolherdError {
  override readonly type: string = 'ConfigError';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map((problem) => formatProblem(problem)).join('\n'));
    this.problems = problems;
  }
}

/** The same, when all that is wrong is wrong in entries of servers. */
export class MCPConfigError extends ConfigError {
  override readonly type: string = 'MCPConfigError';
}

/** The error for these problems, by what they are about. */
export function configError(problems: readonly Problem[]): ConfigError {
  const isAboutEntries = problems.every(({ type }) => type !== 'ConfigError');
  return isAboutEntries ? new MCPConfigError(problems) : new ConfigError(problems);
}
