import { describe, expect, it } from 'vitest';
import type { ContentBlock, ToolResult } from '../../../src/fleet/fleet.js';
import { viewContents, viewResult } from '../../../src/page/server/result-view.js';

function result(content: ContentBlock[], more: Partial<ToolResult> = {}, metadata: object = {}): ToolResult {
  return {
    success: true,
    content,
    error: null,
    metadata: {
      server: 's',
      tool: 't',
      request_id: 'r',
      incarnation: 1,
      execution_time_ms: 3,
      is_error: false,
      ...metadata,
    },
    ...more,
  };
}

const partOf = (block: ContentBlock) => viewResult(result([block])).parts[0]!;

describe('a result on the page', () => {
  it('text stays text, also where it looks like markup', () => {
    expect(partOf({ type: 'text', text: '<img src=x onerror=alert(1)>' })).toEqual({
      kind: 'text',
      text: '<img src=x onerror=alert(1)>',
    });
  });

  it('a text that is JSON is indented, and one that only looks like it stays as it is', () => {
    expect(partOf({ type: 'text', text: '{"a":1}' })).toEqual({ kind: 'json', text: '{\n  "a": 1\n}' });
    expect(partOf({ type: 'text', text: '{a}' })).toEqual({ kind: 'text', text: '{a}' });
  });

  it('an image and a sound become data: addresses of their type', () => {
    expect(partOf({ type: 'image', data: 'AA==\n', mime_type: 'image/png' })).toEqual({
      kind: 'image',
      src: 'data:image/png;base64,AA==',
      type: 'image/png',
      bytes: 1,
    });
    expect(partOf({ type: 'audio', data: 'AAAA', mime_type: 'audio/wav' })).toMatchObject({
      kind: 'audio',
      bytes: 3,
    });
  });

  it.each([
    ['image/svg+xml', 'AA=='],
    ['text/html', 'AA=='],
    ['image/png,<script>', 'AA=='],
    ['image/png', '"><script>alert(1)</script>'],
    ['', 'AA=='],
  ])('an image of type %j with data %j is named and not drawn', (mime_type, data) => {
    expect(partOf({ type: 'image', data, mime_type })).toMatchObject({ kind: 'other', text: '' });
  });

  it('an embedded text is shown with its address, other bytes with their size', () => {
    const text = { type: 'binary', data: btoa('hi'), mime_type: 'text/plain', uri: 'a://b' } as const;
    expect(partOf(text)).toEqual({
      kind: 'resource',
      uri: 'a://b',
      type: 'text/plain',
      bytes: 2,
      shown: { kind: 'text', text: 'hi' },
    });
    const zip = { type: 'binary', data: btoa('hi'), mime_type: 'application/zip', uri: 'a://b' } as const;
    expect(partOf(zip)).toMatchObject({ bytes: 2, shown: null });
  });

  it('a link says whether a browser may open it', () => {
    const link = (uri: string) => partOf({ type: 'binary', data: null, mime_type: null, uri, name: 'n' });
    expect(link('https://example.com')).toMatchObject({ kind: 'link', isWeb: true });
    expect(link('javascript:alert(1)')).toMatchObject({ kind: 'link', isWeb: false });
  });

  it('a block of an unknown kind is shown as JSON', () => {
    expect(partOf({ type: 'unknown', original_type: 'x', raw: { a: 1 } })).toMatchObject({
      kind: 'other',
      type: 'x',
      text: '{\n  "a": 1\n}',
    });
  });

  it('an error of the tool, an error of toolherd and a success differ', () => {
    const error = { type: 'MCPToolError', message: 'm', retryable: false, sent: true };
    expect(viewResult(result([], { success: false, error }, { is_error: true }))).toMatchObject({
      outcome: 'tool error',
      error: null,
    });
    expect(viewResult(result([], { success: false, error }))).toMatchObject({ outcome: 'failed', error });
    expect(viewResult(result([]))).toMatchObject({ outcome: 'ok', parts: [], structured: null });
  });

  it('structured content is shown beside the blocks, and a cut text says so', () => {
    const truncated = { characters: 10, given: 4, uri: null };
    const view = viewResult(result([], {}, { structured_content: { a: 1 }, truncated }));
    expect(view.structured).toBe('{\n  "a": 1\n}');
    expect(view.cut).toMatch(/^4 of 10 characters/);
  });
});

describe('a resource and a prompt on the page', () => {
  it('texts and bytes of a resource are shown by their type', () => {
    const contents = [
      { uri: 'a://t', mimeType: 'text/plain', text: '<b>' },
      { uri: 'a://i', mimeType: 'image/png', blob: 'AAAA' },
    ];
    expect(viewContents({ contents })).toMatchObject([
      { kind: 'resource', shown: { kind: 'text', text: '<b>' } },
      { kind: 'resource', shown: { kind: 'image' } },
    ]);
  });

  it('a message of a prompt has its role before it', () => {
    const messages = [{ role: 'user', content: { type: 'text', text: 'hi' } }];
    expect(viewContents({ messages })).toEqual([{ kind: 'text', text: 'user: hi' }]);
  });
});
