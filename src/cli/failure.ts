import { ConfigError } from '../config/problem.js';
import { TrustRequiredError } from '../config/trust.js';
import { ToolherdError } from '../errors.js';
import { EXIT } from './exit-codes.js';
import type { Output } from './output.js';
import { UsageError } from './verb.js';
import { describeWouldRun, wouldRunJson } from './would-run.js';

/** Says what happened, why, where and how to fix it, and answers with the exit status. */
export function explainFailure(error: unknown, output: Output): number {
  const { type, message, why, fix, status, ...more } = describe(error);
  output.json({ ok: false, error: { type, message, why, fix, ...more } });
  if (output.isJson) return status;
  output.error(more.problems === undefined ? `error: ${message}` : message);
  if (error instanceof TrustRequiredError) output.error(describeWouldRun(error.file, error.wouldRun));
  if (why !== undefined) output.error(`  why: ${why}`);
  if (fix !== undefined) output.error(`  fix: ${fix}`);
  return status;
}

interface Description {
  type: string;
  message: string;
  why?: string | undefined;
  fix?: string | undefined;
  status: number;
  problems?: ConfigError['problems'];
  would_run?: unknown;
}

function describe(error: unknown): Description {
  if (error instanceof UsageError) {
    return { type: 'UsageError', message: error.message, fix: error.fix, status: EXIT.usage };
  }
  if (error instanceof ConfigError) {
    const { type, message, problems } = error;
    return { type, message, status: EXIT.badConfig, problems };
  }
  if (error instanceof ToolherdError) {
    const { type, message, why, fix } = error;
    if (!(error instanceof TrustRequiredError)) return { type, message, why, fix, status: EXIT.failed };
    return { type, message, why, fix, status: EXIT.notAllowed, would_run: wouldRunJson(error.wouldRun) };
  }
  const message = error instanceof Error ? error.message : String(error);
  return {
    type: 'InternalError',
    message,
    why: 'a bug in toolherd',
    fix: 'please report it',
    status: EXIT.failed,
  };
}
