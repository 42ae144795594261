import { describe, expect, test } from 'vitest';
import { convertContent } from '../../../src/supervisor/routing/content.js';

function convert(content: unknown) {
  const unknown: string[] = [];
  return { blocks: convertContent(content, (type) => unknown.push(type)), unknown };
}

const uri = 'file:///a';

describe('FR-003 FR-017 FR-018 FR-019 FR-020: the content of a result', () => {
  test.each([
    ['text', { type: 'text', text: 'hello' }, { type: 'text', text: 'hello' }],
    [
      'text with all that may stand beside it',
      { type: 'text', text: 'x', annotations: { priority: 1 }, _meta: { a: 1 }, unheardOf: [2] },
      { type: 'text', text: 'x', annotations: { priority: 1 }, meta: { a: 1 }, more: { unheardOf: [2] } },
    ],
    ['an empty text', { type: 'text', text: '' }, { type: 'text', text: '' }],
    [
      'an image',
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      { type: 'image', data: 'AAAA', mime_type: 'image/png' },
    ],
    [
      'a sound',
      { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
      { type: 'audio', data: 'AAAA', mime_type: 'audio/wav' },
    ],
    [
      'an image without a type',
      { type: 'image', data: 'AAAA' },
      { type: 'image', data: 'AAAA', mime_type: 'application/octet-stream' },
    ],
    [
      'an embedded resource of bytes',
      { type: 'resource', resource: { uri, blob: 'AAAA', mimeType: 'a/b', name: 'a' } },
      { type: 'binary', data: 'AAAA', mime_type: 'a/b', uri, name: 'a' },
    ],
    [
      'an embedded resource of text, as bytes',
      { type: 'resource', resource: { uri, text: 'é', mimeType: 'text/plain' } },
      { type: 'binary', data: Buffer.from('é').toString('base64'), mime_type: 'text/plain', uri },
    ],
    [
      'an embedded resource of nothing',
      { type: 'resource', resource: {} },
      { type: 'binary', data: null, mime_type: null, uri: null },
    ],
    [
      'a link to a resource',
      { type: 'resource_link', uri, name: 'a', mimeType: 'a/b', description: 'x', size: 3 },
      { type: 'binary', data: null, mime_type: 'a/b', uri, name: 'a', more: { description: 'x', size: 3 } },
    ],
    [
      'an embedded resource with both, and with fields inside and outside',
      { type: 'resource', resource: { uri, blob: 'AAAA', text: 't', _meta: { in: 1 } }, _meta: { out: 1 } },
      {
        type: 'binary',
        data: 'AAAA',
        mime_type: null,
        uri,
        meta: { out: 1 },
        more: { resource: { _meta: { in: 1 }, text: 't' } },
      },
    ],
  ])('%s', (_, raw, block) => {
    expect(convert([raw])).toEqual({ blocks: [block], unknown: [] });
  });

  test.each([
    ['of a type that is not known', { type: 'video', data: 1 }, 'video'],
    ['text without text', { type: 'text', text: 7 }, 'text'],
    ['an image without data', { type: 'image', mimeType: 'image/png' }, 'image'],
    ['a resource that is no object', { type: 'resource', resource: 'x' }, 'resource'],
    ['without a type', { text: 'x' }, 'object'],
    ['no object', 'x', 'string'],
    ['null', null, 'object'],
    ['a list in the list', [1], 'object'],
  ])('an unknown or invalid block is kept unchanged, and its type is reported: %s', (_, raw, type) => {
    expect(convert([raw])).toEqual({
      blocks: [{ type: 'unknown', original_type: type, raw }],
      unknown: [type],
    });
  });

  test('reports each unknown type once', () => {
    expect(convert([{ type: 'a' }, { type: 'b' }, { type: 'a' }]).unknown).toEqual(['a', 'b']);
  });

  test('that is no list is kept as one unknown block', () => {
    expect(convert('hello')).toEqual({
      blocks: [{ type: 'unknown', original_type: 'string', raw: 'hello' }],
      unknown: ['string'],
    });
  });

  test('that is missing or empty has no blocks', () => {
    expect(convert(undefined)).toEqual({ blocks: [], unknown: [] });
    expect(convert([])).toEqual({ blocks: [], unknown: [] });
  });

  test('keeps its order; one unknown block changes no other', () => {
    const { blocks } = convert([{ type: 'text', text: '1' }, { type: '?' }, { type: 'text', text: '3' }]);
    expect(blocks.map(({ type }) => type)).toEqual(['text', 'unknown', 'text']);
  });
});

describe('content of very many unknown blocks', () => {
  test('is kept in order, and is less than twice as long as JSON', () => {
    const raws = Array.from({ length: 300_000 }, () => ({}));
    const text = { type: 'text', text: 'x' };
    const { blocks, unknown } = convert([...raws.slice(0, 200_000), text, ...raws.slice(200_000)]);
    expect(blocks).toHaveLength(10_003);
    expect(blocks[9999]).toEqual({ type: 'unknown', original_type: 'object', raw: {} });
    expect(blocks[10_001]).toEqual(text);
    const kept = blocks.flatMap((block) => {
      if (block.type !== 'unknown') return [];
      return block.original_type === 'several' ? (block.raw as unknown[]) : [block.raw];
    });
    expect(kept).toHaveLength(raws.length);
    expect(kept.every((raw, index) => raw === raws[index])).toBe(true);
    expect(unknown).toEqual(['object']);
    expect(JSON.stringify(blocks).length).toBeLessThan(2 * JSON.stringify(raws).length);
  });

  test('a thousand types are reported as twenty of them', () => {
    const { blocks, unknown } = convert(Array.from({ length: 1000 }, (_, at) => ({ type: `t${at}` })));
    expect(blocks).toHaveLength(1000);
    expect(unknown).toEqual(Array.from({ length: 20 }, (_, at) => `t${at}`));
  });
});
