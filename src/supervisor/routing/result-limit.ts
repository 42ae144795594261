import { isDeepStrictEqual } from 'node:util';
import type { McpResult, Truncation } from '../../fleet/fleet.js';
import { isObject } from '../../shared/json.js';
import { cutText } from '../../shared/text/cut-text.js';
import { idOfKept } from './result-files.js';

/** Keeps a text in a file and answers with its address; undefined when it could not. */
export type KeepText = (text: string) => Promise<string | undefined>;

/** A block of a result; servers also send null, and blocks of other shapes. */
type Block = { type?: unknown; text?: unknown } | null;

type TextBlock = { type: 'text'; text: string };

export interface LimitedResult {
  result: McpResult;
  /** Absent where the whole result is within the limit. */
  truncated?: Truncation;
}

/**
 * A result with no more than `limit` characters of text. Text beyond it is cut off; all of the text is kept in a file,
 * which is linked as the last block. Everything that is not a text block stays. `isPaged`: the agent has `read_result`, the
 * note says how to use it, and structured content over the limit becomes text first.
 */
export async function limitResult(
  given: McpResult,
  limit: number,
  keep: KeepText,
  isPaged = false,
): Promise<LimitedResult> {
  const result = isPaged ? withoutLongStructure(given, limit) : given;
  const content = blocksOf(result);
  const characters = lengthOf(content);
  if (limit === 0 || characters <= limit) return { result };
  // a file that cannot be written must not fail the call
  const uri = await keep(textOf(content)).catch(() => undefined);
  const cut = cutBlocks(content, limit, (given, offset) =>
    noteOf({ given, offset, characters, uri, isPaged }),
  );
  return {
    result: { ...result, content: uri === undefined ? cut.blocks : [...cut.blocks, linkTo(uri)] },
    truncated: { characters, given: cut.given, uri: uri ?? null },
  };
}

/**
 * Structured content over the limit would reach the model beside the cut text. As a rule a server sends the same as text,
 * so the structure is left out; where the text says something else, the structure is added as the last line of it, and cut
 * with it.
 */
function withoutLongStructure(result: McpResult, limit: number): McpResult {
  const { structuredContent, ...rest } = result;
  if (structuredContent === undefined || limit === 0) return result;
  const json = JSON.stringify(structuredContent);
  if (json.length <= limit) return result;
  const content = blocksOf(result);
  const isThere = saysTheSame(textOf(content), structuredContent, json.length);
  return isThere ? rest : { ...rest, content: [...content, { type: 'text', text: json }] };
}

/** `length`: of the structure as JSON. Some libraries wrap what is no object as the only value of one: `{"result": …}`. */
function saysTheSame(text: string, structure: unknown, length: number): boolean {
  const values = isObject(structure) ? Object.values(structure) : [];
  const wrapped = values.length === 1 ? values : [];
  if (wrapped[0] === text) return true;
  // a server may write its JSON with or without spaces
  if (text.length < length / 2) return false;
  try {
    const said: unknown = JSON.parse(text);
    return [structure, ...wrapped].some((value) => isDeepStrictEqual(said, value));
  } catch {
    return false;
  }
}

/** A single block stands for a list of one: some servers send it so. */
function blocksOf({ content }: McpResult): readonly Block[] {
  if (Array.isArray(content)) return content;
  return isObject(content) ? [content] : [];
}

function lengthOf(content: readonly Block[]): number {
  return content.reduce((sum, block) => sum + (isText(block) ? block.text.length : 0), 0);
}

function textOf(content: readonly Block[]): string {
  return content.flatMap((block) => (isText(block) ? [block.text] : [])).join('\n');
}

function isText(block: Block): block is TextBlock {
  return block?.type === 'text' && typeof block.text === 'string';
}

/**
 * The note is appended to the last text block, because a model may read only that block. `offset`: where the rest begins in
 * the kept text, which has a newline between blocks.
 */
function cutBlocks(
  content: readonly Block[],
  limit: number,
  note: (given: number, offset: number) => string,
) {
  const blocks: Block[] = [];
  let given = 0;
  let newlines = 0;
  let isCut = false;
  for (const block of content) {
    if (!isText(block)) blocks.push(block);
    else if (!isCut) {
      const text = cutText(block.text, limit - given);
      given += text.length;
      isCut = text.length < block.text.length;
      blocks.push({ ...block, text: isCut ? `${text}${note(given, given + newlines)}` : text });
      newlines += 1;
    }
  }
  return { blocks, given };
}

interface Note {
  given: number;
  offset: number;
  characters: number;
  uri: string | undefined;
  isPaged: boolean;
}

function noteOf({ given, offset, characters, uri, isPaged }: Note): string {
  const all = uri === undefined ? 'the rest could not be kept' : `all of it: ${uri}`;
  const isReadable = isPaged && uri !== undefined;
  const next = isReadable ? `the rest: read_result {"id":"${idOfKept(uri)}","offset":${offset}}; ` : '';
  return `\n[${characters - given} of ${characters} characters cut by result_limit; ${next}${all}]`;
}

function linkTo(uri: string) {
  return { type: 'resource_link', uri, name: uri.slice(uri.lastIndexOf('/') + 1), mimeType: 'text/plain' };
}
