import type { ContentBlock, McpResult, ToolResult, Truncation } from '../../fleet/fleet.js';

/** Keeps a text in a file and answers with its address; undefined when it could not. */
export type KeepText = (text: string) => Promise<string | undefined>;

/** What text is cut from: blocks of the herd's own form, or of MCP's. */
interface Block {
  type: string;
  text?: unknown;
}

interface Cut<T> {
  content: T[];
  truncated: Truncation;
}

/**
 * A result with no more than `limit` characters of text. Text beyond it is cut off; all of the text is kept in a file,
 * which is linked as the last block. Everything that is not a text block stays.
 */
export async function limitResult(result: ToolResult, limit: number, keep: KeepText): Promise<ToolResult> {
  const cut = await cutContent(result.content, limit, keep, linkTo);
  if (cut === undefined) return result;
  return {
    ...result,
    content: cut.content,
    error: result.error && { ...result.error, message: cutText(result.error.message, limit) },
    metadata: { ...result.metadata, truncated: cut.truncated },
  };
}

/** The same for a result of MCP as it came. */
export async function limitMcpResult(result: McpResult, limit: number, keep: KeepText): Promise<McpResult> {
  if (!Array.isArray(result.content)) return result;
  const cut = await cutContent<Block>(result.content, limit, keep, mcpLinkTo);
  return cut === undefined ? result : { ...result, content: cut.content };
}

async function cutContent<T extends Block>(
  content: readonly T[],
  limit: number,
  keep: KeepText,
  link: (uri: string) => T,
): Promise<Cut<T> | undefined> {
  const characters = lengthOf(content);
  if (limit === 0 || characters <= limit) return undefined;
  // whatever becomes of the file, the call has its result
  const uri = await keep(textOf(content)).catch(() => undefined);
  const { blocks, given } = cutBlocks(content, limit, (left) => noteOf(left, characters, uri));
  return {
    content: uri === undefined ? blocks : [...blocks, link(uri)],
    truncated: { characters, given, uri: uri ?? null },
  };
}

function lengthOf(content: readonly Block[]): number {
  return content.reduce((sum, block) => sum + (isText(block) ? block.text.length : 0), 0);
}

function textOf(content: readonly Block[]): string {
  return content.flatMap((block) => (isText(block) ? [block.text] : [])).join('\n');
}

/** Whatever a server calls a block. */
function isText(block: Block | null): block is Block & { text: string } {
  return block?.type === 'text' && typeof block.text === 'string';
}

/** The note stands where the text ends: who reads only that must know that there is more. */
function cutBlocks<T extends Block>(content: readonly T[], limit: number, note: (given: number) => string) {
  const blocks: T[] = [];
  let given = 0;
  let isCut = false;
  for (const block of content) {
    if (!isText(block)) blocks.push(block);
    else if (!isCut) {
      const text = cutText(block.text, limit - given);
      given += text.length;
      isCut = text.length < block.text.length;
      blocks.push({ ...block, text: isCut ? `${text}${note(given)}` : text });
    }
  }
  return { blocks, given };
}

/** Never half a character. */
function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  const isHalf = length > 0 && last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, isHalf ? length - 1 : length);
}

function noteOf(given: number, characters: number, uri: string | undefined): string {
  const where = uri === undefined ? 'the rest could not be kept' : `all of it: ${uri}`;
  return `\n[${characters - given} of ${characters} characters cut by result_limit; ${where}]`;
}

function linkTo(uri: string): ContentBlock {
  return {
    type: 'binary',
    data: null,
    mime_type: 'text/plain',
    uri,
    name: nameOf(uri),
  };
}

function mcpLinkTo(uri: string): Block {
  return { type: 'resource_link', uri, name: nameOf(uri), mimeType: 'text/plain' } as Block;
}

function nameOf(uri: string): string {
  return uri.slice(uri.lastIndexOf('/') + 1);
}
