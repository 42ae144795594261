import type { ToolResult } from '../fleet/fleet.js';

/** A result as the client library gives it. */
export interface TextResult extends ToolResult {
  /** All text of it, a newline between the blocks. */
  text(): string;
}

function textOf({ content }: Pick<ToolResult, 'content'>): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

/** Adds `text()`. Not enumerable: what is printed, compared or sent on is the result alone. */
export function withText(result: ToolResult): TextResult {
  if ('text' in result) return result as TextResult;
  return Object.defineProperty(result, 'text', { value: () => textOf(result) }) as TextResult;
}
