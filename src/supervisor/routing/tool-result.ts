import type { CallParams, ContentBlock, ToolResult, WireError } from '../../fleet/fleet.js';
import type { Outcome } from '../../link/calls/call.js';
import type { MCPError } from '../../shared/call-errors.js';
import type { JsonObject } from '../../shared/json.js';
import { MCPToolError } from '../errors.js';
import { convertContent } from './content.js';

export interface ResultContext {
  params: CallParams;
  requestId: string;
  incarnation: number | null;
  elapsedMs: number;
  redact(text: string): string;
  /** Content of a type that is not known: kept, and worth a line in the log. */
  unknown(type: string): void;
}

/** The result of a call in the one shape that scripts rely on, whatever became of it. */
export function toToolResult(outcome: Outcome, about: ResultContext): ToolResult {
  const { params, requestId, incarnation, elapsedMs } = about;
  const result: JsonObject = outcome.ok ? outcome.result : {};
  const content = convertContent(contentOf(result), about.unknown);
  const isError = result.isError === true;
  const failure = outcome.ok ? (isError ? toolError(params, content) : undefined) : outcome.error;
  return {
    success: failure === undefined,
    content,
    error: failure === undefined ? null : toWireError(failure, about.redact),
    metadata: {
      server: params.server,
      tool: params.tool,
      request_id: requestId,
      incarnation,
      execution_time_ms: Math.round(elapsedMs * 100) / 100,
      is_error: isError,
      ...(result.structuredContent === undefined ? {} : { structured_content: result.structuredContent }),
      ...(result._meta === undefined ? {} : { meta: result._meta }),
    },
  };
}

export function toWireError(error: MCPError, redact: (text: string) => string): WireError {
  const { type, message, why, fix, retryable, sent } = error;
  return {
    type,
    message: redact(message),
    ...(why === undefined ? {} : { why: redact(why) }),
    ...(fix === undefined ? {} : { fix: redact(fix) }),
    retryable,
    sent,
    ...problemsOf(error),
  };
}

/** Their words were redacted when the config was read. */
function problemsOf(error: MCPError & Pick<WireError, 'problems'>): Pick<WireError, 'problems'> {
  return error.problems === undefined ? {} : { problems: error.problems };
}

/** Servers of 2024-10-07 answer with a `toolResult` of any shape instead. */
function contentOf({ content, toolResult }: JsonObject): unknown {
  if (content !== undefined || toolResult === undefined) return content;
  return [{ type: 'toolResult', toolResult }];
}

/** The tool's own words are its message. */
function toolError({ server, tool }: CallParams, content: readonly ContentBlock[]): MCPToolError {
  const said = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  return new MCPToolError(said === '' ? `${server}.${tool} failed and did not say why` : said, {
    sent: true,
    why: `${server}.${tool} ran and reported an error`,
    fix: `do as it says, or see what it takes with "toolherd tools ${server} --schema"`,
  });
}
