import { describe, expect, test } from 'vitest';
import { MCPProtocolError, MCPTimeoutError, ServerCrashedError } from '../../../src/shared/call-errors.js';
import type { Outcome } from '../../../src/shared/call-sink.js';
import { toToolResult } from '../../../src/supervisor/routing/tool-result.js';

const params = { server: 'srv', tool: 'tool' };
const redact = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll('hunter2', '[PASSWORD]')) as T;

function resultOf(outcome: Outcome, incarnation: number | null = 3) {
  const unknown: string[] = [];
  const about = {
    params,
    requestId: 'r-1',
    incarnation,
    elapsedMs: 12.3456,
    redact,
    unknown: (type: string) => unknown.push(type),
  };
  return { ...toToolResult(outcome, about), unknown };
}

const ok = (result: Record<string, unknown>): Outcome => ({ ok: true, result });

describe('the result of a call', () => {
  test('D18: has the code and the data of an error of the server, without secrets', () => {
    const rpc = { code: -32602, message: 'no', data: { field: ['hunter2'] } };
    const error = new MCPProtocolError('no', { sent: true, rpc });
    expect(resultOf({ ok: false, error }).error).toMatchObject({
      code: -32602,
      data: { field: ['[PASSWORD]'] },
    });
  });

  test('has the content and the metadata of a success', () => {
    expect(resultOf(ok({ content: [{ type: 'text', text: 'hi' }] }))).toEqual({
      success: true,
      content: [{ type: 'text', text: 'hi' }],
      error: null,
      metadata: {
        server: 'srv',
        tool: 'tool',
        request_id: 'r-1',
        incarnation: 3,
        execution_time_ms: 12.35,
        is_error: false,
      },
      unknown: [],
    });
  });

  test('is a success when it is empty', () => {
    expect(resultOf(ok({}))).toMatchObject({ success: true, content: [], error: null });
  });

  test('has structured content and meta if the server sent them, also falsy values', () => {
    const { metadata } = resultOf(ok({ structuredContent: 0, _meta: { a: 1 } }));
    expect(metadata).toMatchObject({ structured_content: 0, meta: { a: 1 } });
    expect(resultOf(ok({})).metadata).not.toHaveProperty('meta');
  });

  test('keeps the form of 2024-10-07 as an unknown block', () => {
    const { content, success } = resultOf(ok({ toolResult: [1] }));
    expect([success, content]).toEqual([
      true,
      [{ type: 'unknown', original_type: 'toolResult', raw: { type: 'toolResult', toolResult: [1] } }],
    ]);
  });

  test('reports unknown types of content', () => {
    expect(resultOf(ok({ content: [{ type: 'video' }] })).unknown).toEqual(['video']);
  });

  test("FR-022: a result with isError is MCPToolError with the tool's text and content, sent: true, never retryable", () => {
    const content = [
      { type: 'text', text: 'no such file' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      { type: 'text', text: 'line two' },
    ];
    const { success, error, metadata, content: blocks } = resultOf(ok({ isError: true, content }));
    expect(error).toEqual({
      type: 'MCPToolError',
      message: 'no such file\nline two',
      why: 'srv.tool ran and reported an error',
      fix: 'do as it says, or see what it takes with "toolherd tools srv --schema"',
      retryable: false,
      sent: true,
    });
    expect([success, metadata.is_error, blocks.length]).toEqual([false, true, 3]);
  });

  test('a result with isError and no text has a default message; only isError: true counts', () => {
    expect(resultOf(ok({ isError: true })).error?.message).toBe('srv.tool failed and did not say why');
    expect(resultOf(ok({ isError: 'yes' })).success).toBe(true);
  });

  test('that failed is the error of the call, with why and fix if it has them', () => {
    const crashed = new ServerCrashedError('srv: exited with code 7', {
      sent: true,
      why: 'it may have run',
      fix: 'see the log',
    });
    expect(resultOf({ ok: false, error: crashed })).toMatchObject({
      success: false,
      content: [],
      error: {
        type: 'ServerCrashedError',
        message: 'srv: exited with code 7',
        why: 'it may have run',
        fix: 'see the log',
        retryable: false,
        sent: true,
      },
      metadata: { is_error: false },
    });
    const { error, metadata } = resultOf(
      { ok: false, error: new MCPTimeoutError('late', { retryable: true }) },
      null,
    );
    expect(error).toEqual({ type: 'MCPTimeoutError', message: 'late', retryable: true, sent: false });
    expect(metadata.incarnation).toBeNull();
  });

  test("X1: the error made of a tool's own text has no secret", () => {
    const said = resultOf(ok({ isError: true, content: [{ type: 'text', text: 'wrong: hunter2' }] }));
    expect(said.error?.message).toBe('wrong: [PASSWORD]');
  });
});
