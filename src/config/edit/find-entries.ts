import { type Data, isMap } from '../parse/document.js';
import { uneditable } from './edit-error.js';
import type { ListKey } from './locate.js';
import { parseValues } from './parse.js';

export interface FoundEntry {
  index: number;
  name?: string;
  registryName?: string;
  /** `mcp` for our entries. Entries of other types in an agent.yaml belong to other programs. */
  type?: string;
  enabled: boolean;
  /** 1-based, as editors count. */
  line: number;
  column: number;
}

/** Every item of the list, in order. A text without the list has none. */
export function findEntries(text: string, key: ListKey): FoundEntry[] {
  const document = parseValues(text);
  if (document.value === null) return [];
  if (!isMap(document.value))
    throw uneditable(text, 0, 'The top level of the file is not a mapping', 'make it one');
  const list = document.value[key] ?? [];
  if (!Array.isArray(list)) throw uneditable(text, 0, `'${key}' is not a list`, 'make it a list');
  return list.map((item, index) => ({
    index,
    ...textAs('name', item, 'name'),
    ...textAs('registryName', item, 'registry_name'),
    ...textAs('type', item, 'type'),
    enabled: !(isMap(item) && item.enabled === false),
    ...document.position([key, index]),
  }));
}

function textAs<Name extends string>(name: Name, item: Data, field: string): { [key in Name]?: string } {
  const text = isMap(item) ? item[field] : undefined;
  const named: { [key in Name]?: string } = {};
  if (typeof text === 'string' && text !== '') named[name] = text;
  return named;
}
