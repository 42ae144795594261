import { type ConfigError, formatProblem } from '../../config/parse/problem.js';
import type { AgentFileNotAllowedError, WouldRun } from '../../config/trust/trust.js';
import type { ConfigProblem } from '../../fleet/fleet.js';
import { withCallerVariables } from '../../fleet/texts/config-problems.js';
import { describeWouldRun, wouldRunJson } from '../../install/would-run.js';
import type { Environment } from '../../shared/environment.js';
import { messageOf } from '../../shared/errors.js';
import { EXIT, exitStatusOf } from '../../shared/report/exit-codes.js';
import { type ErrorText, formatError, sentLine } from '../../shared/report/format-error.js';
import type { Output } from '../ui/output.js';

/** Prints what happened, why, where and how to fix it. Answers with the exit status. */
export function reportError(error: unknown, output: Output, environment: Environment): number {
  const { type, message, why, fix, status, problems, ...more } = describe(error, environment);
  output.json({ ok: false, error: { type, message, why, fix, problems, ...more } });
  if (output.isJson) return status;
  if (problems !== undefined) {
    const isCall = (error as Partial<Typed>).isUnsentCall === true;
    output.error([problemText(problems, 'error'), ...(isCall ? [sentLine(false)] : [])].join('\n'));
    return status;
  }
  const isRefusedFile =
    isOf<AgentFileNotAllowedError & FromDaemon>(error, 'TrustRequiredError') && isAboutFile(error);
  const preview = isRefusedFile
    ? describeWouldRun(error.data?.file ?? error.file, wouldRunOf(error))
    : undefined;
  printError(output, { type, message, preview, why, fix });
  return status;
}

/** The one form of an error for people. */
export function printError(output: Output, error: ErrorText): void {
  output.error(formatError(error));
}

/** For a command that follows the daemon. */
export const DAEMON_ENDED: ErrorText = {
  type: 'DaemonNotRunningError',
  message: 'the daemon has ended',
  fix: "start it with 'toolherd up'",
};

/** Every problem with its place, what caused it and its fix. */
export function problemText(problems: readonly ConfigProblem[], level: 'error' | 'warning'): string {
  return problems.map((problem) => formatProblem(problem, level)).join('\n');
}

/** The problems of a config that was refused, as this command sees them. Undefined for any other error. */
export function configProblems(error: unknown, environment: Environment): ConfigProblem[] | undefined {
  if (!isOf<ConfigError & FromDaemon>(error, 'ConfigError', 'MCPConfigError')) return undefined;
  const problems = error.data?.problems ?? error.problems;
  return problems && withCallerVariables(problems, environment);
}

interface Description {
  type: string;
  message: string;
  why?: string | undefined;
  fix?: string | undefined;
  status: number;
  problems?: readonly ConfigProblem[] | undefined;
  would_run?: unknown;
  sent?: boolean;
}

interface Typed extends Error {
  type: string;
  why?: string | undefined;
  fix?: string | undefined;
  /** Of a call that failed before it was sent. */
  isUnsentCall?: boolean;
}

/** By `type`, not by class: each bundle has its own copy of the classes. */
function isOf<T extends Typed>(error: unknown, ...types: string[]): error is T {
  return error instanceof Error && 'type' in error && types.includes(String(error.type));
}

function describe(error: unknown, environment: Environment): Description {
  if (!(error instanceof Error && 'type' in error)) {
    const message = messageOf(error);
    return {
      type: 'InternalError',
      message,
      why: 'a bug in toolherd',
      fix: 'please report it',
      status: EXIT.failed,
    };
  }
  const { type, message, why, fix } = error as Typed;
  const known = { type, message, why, fix, status: exitStatusOf(type) };
  const problems = configProblems(error, environment);
  if (problems !== undefined) {
    const { isUnsentCall } = error as Typed;
    return { ...known, problems, ...(isUnsentCall === true ? { sent: false } : {}) };
  }
  if (!isOf<AgentFileNotAllowedError & FromDaemon>(error, 'TrustRequiredError') || !isAboutFile(error))
    return known;
  return { ...known, would_run: wouldRunJson(wouldRunOf(error)) };
}

/** An error that came from the daemon has its further fields in `data`. */
interface FromDaemon {
  data?:
    | {
        file: string;
        would_run: (Omit<WouldRun, 'envFile'> & { env_file?: string })[];
        problems: ConfigError['problems'];
      }
    | undefined;
}

/** The error is about a file that is not allowed yet. For a revoked file or a blocked tool there is no preview. */
function isAboutFile({ data, wouldRun }: Partial<AgentFileNotAllowedError> & Partial<FromDaemon>): boolean {
  return data?.would_run !== undefined || wouldRun !== undefined;
}

function wouldRunOf({ data, wouldRun }: AgentFileNotAllowedError & FromDaemon): readonly WouldRun[] {
  if (data === undefined) return wouldRun;
  return data.would_run.map(({ env_file, ...rest }) =>
    env_file === undefined ? rest : { ...rest, envFile: env_file },
  );
}
