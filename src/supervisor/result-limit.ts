import type { ContentBlock, ToolResult } from '../ipc/fleet.js';

/** Keeps a text in a file and answers with its address; undefined when it could not. */
export type KeepText = (text: string) => Promise<string | undefined>;

/**
 * A result with no more than `limit` characters of text. Text beyond it is cut off; all of the text is kept in a file,
 * which is linked as the last block. Everything that is not a text block stays.
 */
export async function limitResult(result: ToolResult, limit: number, keep: KeepText): Promise<ToolResult> {
  const characters = lengthOf(result.content);
  if (limit === 0 || characters <= limit) return result;
  // whatever becomes of the file, the call has its result
  const uri = await keep(textOf(result.content)).catch(() => undefined);
  const { blocks, given } = cutBlocks(result.content, limit, (left) => noteOf(left, characters, uri));
  const link: ContentBlock[] = uri === undefined ? [] : [linkTo(uri)];
  return {
    ...result,
    content: [...blocks, ...link],
    error: result.error && { ...result.error, message: cutText(result.error.message, limit) },
    metadata: { ...result.metadata, truncated: { characters, given, uri: uri ?? null } },
  };
}

function lengthOf(content: readonly ContentBlock[]): number {
  return content.reduce((sum, block) => sum + (block.type === 'text' ? block.text.length : 0), 0);
}

function textOf(content: readonly ContentBlock[]): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

/** The note stands where the text ends: who reads only that must know that there is more. */
function cutBlocks(content: readonly ContentBlock[], limit: number, note: (given: number) => string) {
  const blocks: ContentBlock[] = [];
  let given = 0;
  let isCut = false;
  for (const block of content) {
    if (block.type !== 'text') blocks.push(block);
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
    name: uri.slice(uri.lastIndexOf('/') + 1),
  };
}
