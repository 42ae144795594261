import type { ServerSpec } from '../../config/fields/spec.js';
import type { ListKey, ListName } from '../../fleet/fleet.js';
import type { Link } from '../../link/link.js';
import type { ListMethod } from '../../link/protocol/list.js';
import { MCPProtocolError } from '../../shared/call-errors.js';
import { messageOf } from '../../shared/errors.js';
import type { JsonObject } from '../../shared/json.js';
import { CODE } from '../../shared/mcp/rpc-codes.js';

export type { ListKey, ListName };

export const LIST_NAMES: readonly ListName[] = ['tools', 'prompts', 'resources'];

/** What a server offers, as it described it. Undefined is a list that is not known: not wanted, or never read. */
export type Lists = Record<ListKey, JsonObject[] | undefined>;

/** The lists of a server, and what it says of its use. */
export type StoredCatalog = Lists & { instructions?: string | undefined };

export const LIST_METHODS: Readonly<Record<ListKey, ListMethod>> = {
  tools: 'tools/list',
  prompts: 'prompts/list',
  resources: 'resources/list',
  templates: 'resources/templates/list',
};

export const LIST_KEYS = Object.keys(LIST_METHODS) as readonly ListKey[];

/** The lists that one notification of a server is about. */
export function partsOf(list: ListName): readonly ListKey[] {
  return list === 'resources' ? ['resources', 'templates'] : [list];
}

/** Which lists are to be read, and the version that each had when the reading began (see `ListState`). */
export type ReadingOrder = ReadonlyMap<ListKey, number>;

/** What one reading brought. A list that was not asked for is not in it; one that could not be read is undefined. */
export type Reading = Partial<Lists> & {
  /** For how long the server says that a list is good. */
  ttlMs?: Partial<Record<ListKey, number>>;
  /** Why a list could not be read. */
  failures?: Partial<Record<ListKey, string>>;
  order?: ReadingOrder;
  /** What the server said of its use when it was connected. */
  instructions?: string | undefined;
};

export function countEntries(reading: Reading): number {
  return LIST_KEYS.reduce((sum, key) => sum + (reading[key]?.length ?? 0), 0);
}

/** The owner of the lists that the processes of a server read: its catalog. */
export interface ListsOwner {
  /** There is a reason to read some list. */
  readonly isDue: boolean;
  /** A request waits for a list. */
  readonly isAwaited: boolean;
  /** Which lists an order to read them means: all, or those that are not fresh. */
  toRead(isAllWanted: boolean): ReadingOrder;
  /** Takes what a process has read. */
  take(reading: Reading): void;
  /** The server reported a change of this list; a reading follows. */
  doubt(list: ListName): void;
  /** No process is left that could be asked again. */
  suspend(): void;
  /** No process will read the lists that requests wait for. */
  giveUp(): void;
}

export const NO_LISTS: Lists = {
  tools: undefined,
  prompts: undefined,
  resources: undefined,
  templates: undefined,
};

export function isWanted(spec: ServerSpec, key: ListKey): boolean {
  if (key === 'tools') return spec.loadTools;
  return key === 'prompts' ? spec.loadPrompts : true;
}

/** Reads the lists that are ordered and wanted. One that cannot be read does not keep the others from being read. */
export async function readLists(link: Link, spec: ServerSpec, order: ReadingOrder): Promise<Reading> {
  const reading: Reading = { order };
  const read = async (key: ListKey): Promise<void> => {
    reading[key] = undefined;
    if (!isWanted(spec, key)) return;
    const onTtl = (ms: number) => {
      reading.ttlMs = { ...reading.ttlMs, [key]: ms };
    };
    try {
      reading[key] = await link.list(LIST_METHODS[key], onTtl);
    } catch (error) {
      // Many servers have resources and do not implement templates.
      if (key === 'templates' && isUnknownMethod(error)) reading[key] = [];
      else reading.failures = { ...reading.failures, [key]: reasonOf(error, spec.name) };
    }
  };
  await Promise.all([...order.keys()].map(read));
  return reading;
}

function isUnknownMethod(error: unknown): boolean {
  return error instanceof MCPProtocolError && error.rpc?.code === CODE.methodNotFound;
}

/** Without the name of the server: every place that shows it also shows the name. */
function reasonOf(error: unknown, server: string): string {
  return messageOf(error).replace(`${server}: `, '');
}
