import { isObject } from '../shared/json.js';
import { CONTROL_CHARACTERS } from '../shared/text/control-characters.js';

/** A server that a node lets others use. */
export interface OfferedServer {
  /** Its name on that node. */
  name: string;
  /** Of its entry: equal entries on several nodes are one server. */
  identity: string;
  /** As `status` there says it. */
  state: string;
  detail: string;
  /** A process of it takes calls now. */
  ready: boolean;
  /** A call would start one. */
  may_start: boolean;
  /** Its entry has `cluster: true`. */
  cluster: boolean;
  in_flight: number;
}

/** What a node says every second. Short: every node gets those of all others. */
export interface Beat {
  instance: string;
  version: string;
  api: number;
  draining: boolean;
  /** Counts up with each change of the list of servers. */
  list: number;
  /** Calls in flight by the name of the server, where there are any. */
  load: Readonly<Record<string, number>>;
}

/** The servers of a node, said when they change. */
export interface ServerList {
  instance: string;
  list: number;
  servers: readonly OfferedServer[];
}

/** Keys of the bucket. */
export const KEYS = { beat: 'node', list: 'servers' } as const;

const MOST_NAME = 256;
/** Of one node. More do not fit into a message of 1 MB, the limit of NATS unless its config says otherwise. */
export const MOST_SERVERS = 10_000;

export function encode(message: Beat | ServerList): Uint8Array {
  return Buffer.from(JSON.stringify(message));
}

/** Undefined: it is none. Other programs may write to the bucket. */
export function readBeat(data: Uint8Array): Beat | undefined {
  const { instance, version, api, draining, list, load } = parsed(data);
  if (!isText(instance) || !isText(version) || !isCount(api) || !isCount(list)) return undefined;
  const counts = isObject(load) ? Object.entries(load).filter(([, count]) => isCount(count)) : [];
  return {
    ...{ instance, version, api, list },
    draining: draining === true,
    load: Object.fromEntries(counts) as Record<string, number>,
  };
}

export function readServerList(data: Uint8Array): ServerList | undefined {
  const { instance, list, servers } = parsed(data);
  if (!isText(instance) || !isCount(list) || !Array.isArray(servers)) return undefined;
  return {
    ...{ instance, list },
    servers: servers.slice(0, MOST_SERVERS).flatMap((server) => readServer(server) ?? []),
  };
}

function readServer(server: unknown): OfferedServer | undefined {
  if (!isObject(server)) return undefined;
  const { name, identity, state, detail, ready, may_start, cluster, in_flight } = server;
  if (!isText(name) || !isText(identity)) return undefined;
  return {
    ...{ name, identity },
    state: isText(state) ? state : 'created',
    detail: isText(detail) ? detail : 'idle',
    ready: ready === true,
    may_start: may_start === true,
    cluster: cluster === true,
    in_flight: isCount(in_flight) ? in_flight : 0,
  };
}

function parsed(data: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(data).toString());
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** It is shown to people, and becomes a part of the names that agents read. */
function isText(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > MOST_NAME || value.trim() === '') return false;
  return value.search(CONTROL_CHARACTERS) === -1;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
