import type { CallParams, ContentBlock, ToolResult, Truncation, WireError } from '../../fleet/fleet.js';
import { type MCPError, MCPToolError } from '../../shared/call-errors.js';
import type { Outcome } from '../../shared/call-sink.js';
import type { JsonObject } from '../../shared/json.js';
import { cutText } from '../../shared/text/cut-text.js';
import { shellWord } from '../../shared/text/shell-word.js';
import { convertContent } from './content.js';
import { redactedError } from './redacted-error.js';

export interface ResultContext {
  params: CallParams;
  requestId: string;
  incarnation: number | null;
  elapsedMs: number;
  /** Text of the result was cut off. */
  truncated?: Truncation | undefined;
  /** Removes secrets from the error that is made of a tool's own text, and from the data of a server's error. */
  redact<T>(value: T): T;
  /** Content of a type that is not known: kept, and worth a line in the log. */
  unknown(type: string): void;
}

/** The result of a call in the one shape that scripts rely on. An error of `outcome` has no secrets any more. */
export function toToolResult(outcome: Outcome, about: ResultContext): ToolResult {
  const { params, requestId, incarnation, elapsedMs, truncated } = about;
  const result: JsonObject = outcome.ok ? outcome.result : {};
  const content = convertContent(contentOf(result), about.unknown);
  const isError = result.isError === true;
  const failure = outcome.ok ? (isError ? toolError(content, about) : undefined) : outcome.error;
  return {
    success: failure === undefined,
    content,
    error: failure === undefined ? null : toWireError(failure, about),
    metadata: {
      server: params.server,
      tool: params.tool,
      request_id: requestId,
      incarnation,
      execution_time_ms: Math.round(elapsedMs * 100) / 100,
      is_error: isError,
      ...(result.structuredContent === undefined ? {} : { structured_content: result.structuredContent }),
      ...(result._meta === undefined ? {} : { meta: result._meta }),
      ...(truncated === undefined ? {} : { truncated }),
    },
  };
}

function toWireError(
  error: MCPError & Pick<WireError, 'problems' | 'rpc'>,
  { redact }: Pick<ResultContext, 'redact'>,
): WireError {
  const { type, message, why, fix, retryable, sent, rpc, problems } = error;
  return {
    type,
    message,
    ...(why === undefined ? {} : { why }),
    ...(fix === undefined ? {} : { fix }),
    retryable,
    sent,
    ...(rpc === undefined || !sent ? {} : { code: rpc.code }),
    ...(rpc?.data === undefined || !sent ? {} : { data: redact(rpc.data) }),
    ...(problems === undefined ? {} : { problems }),
  };
}

/** Servers of 2024-10-07 answer with a `toolResult` of any shape instead. */
function contentOf({ content, toolResult }: JsonObject): unknown {
  if (content !== undefined || toolResult === undefined) return content;
  return [{ type: 'toolResult', toolResult }];
}

/** The tool's own text is the message, without the note that says how much of it was cut off. */
function toolError(content: readonly ContentBlock[], { params, truncated, redact }: ResultContext): MCPError {
  const { server, tool } = params;
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  const said = truncated === undefined ? text : cutText(text, truncated.given);
  const error = new MCPToolError(said === '' ? `${server}.${tool} failed and did not say why` : said, {
    sent: true,
    why: `${server}.${tool} ran and reported an error`,
    fix: `do as it says, or see what it takes with "toolherd tools ${shellWord(server)} --schema"`,
  });
  return redactedError(error, redact);
}
