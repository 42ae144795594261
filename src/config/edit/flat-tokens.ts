import type { CST } from 'yaml';
import { isBlank } from './lines.js';

/** A token without children. The flat tokens in order are the whole text. */
export interface FlatToken {
  type: CST.Token['type'];
  start: number;
  end: number;
}

export interface Span {
  start: number;
  end: number;
}

export function flatTokens(token: CST.Token | null | undefined): FlatToken[] {
  if (token === null || token === undefined) return [];
  switch (token.type) {
    case 'block-map':
    case 'block-seq':
      return token.items.flatMap((item: CST.CollectionItem) => flatTokensOfItem(item));
    case 'flow-collection':
      return [
        ...flatTokens(token.start),
        ...token.items.flatMap((item) => flatTokensOfItem(item)),
        ...token.end.flatMap((end) => flatTokens(end)),
      ];
    case 'block-scalar': {
      const header = token.props.flatMap((part) => flatTokens(part));
      const start = header.at(-1)?.end ?? token.offset;
      // For an empty block scalar the parser includes the blank line below it. Unless the scalar keeps line breaks,
      // that line is no part of it.
      const type = isBlank(token.source) && !keepsBreaks(token) ? 'newline' : token.type;
      return [...header, { type, start, end: start + token.source.length }];
    }
    case 'document':
      return [...token.start, token.value, ...(token.end ?? [])].flatMap((part) => flatTokens(part));
    default: {
      const { type, offset, source } = token;
      const flat = { type, start: offset, end: offset + source.length };
      return 'end' in token ? [flat, ...(token.end ?? []).flatMap((end) => flatTokens(end))] : [flat];
    }
  }
}

export function flatTokensOfItem(item: CST.CollectionItem): FlatToken[] {
  return [...item.start, item.key, ...(item.sep ?? []), item.value].flatMap((part) => flatTokens(part));
}

function keepsBreaks({ props }: CST.BlockScalar): boolean {
  return props.some((part) => part.type === 'block-scalar-header' && part.source.includes('+'));
}

/** Spaces, line breaks, comments, commas and empty block scalars are not content. */
function isContent(token: FlatToken): boolean {
  return !['space', 'newline', 'comment', 'comma'].includes(token.type) && token.end > token.start;
}

/** From the first to the last content token; undefined when there is none. A closing comma is not part of it. */
export function contentSpan(tokens: readonly FlatToken[]): Span | undefined {
  const first = tokens.find(isContent);
  const last = tokens.findLast(isContent);
  return first === undefined || last === undefined ? undefined : { start: first.start, end: last.end };
}
