import type { CST } from 'yaml';
import { flatTokens } from './flat-tokens.js';
import type { FlowStyle } from './print.js';

/** The style of the first `{…}` with a key in the collections; an empty `{}` may be a JSON file and stays one. */
export function flowStyleOf(text: string, collections: readonly CST.FlowCollection[]): FlowStyle {
  const leaves = collections.flatMap((collection) => flatTokens(collection));
  const open = leaves.findIndex((leaf) => leaf.type === 'flow-map-start');
  const brace = leaves[open];
  if (brace === undefined) return { json: false, padding: false };
  const first = leaves.slice(open + 1).find((leaf) => !['space', 'newline', 'comment'].includes(leaf.type));
  const json = first?.type === 'double-quoted-scalar' || first?.type === 'flow-map-end';
  return { json, padding: text[brace.end] === ' ' };
}
