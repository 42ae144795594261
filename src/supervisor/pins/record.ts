import { isObject, type JsonObject } from '../../shared/json.js';
import { canonical, pinnable } from './fingerprint.js';

/** A definition of a tool as it was at some time. */
export interface Version {
  hash: string;
  /** When it was first seen so; ISO 8601. */
  at: string;
  /** As canonical JSON, without secrets; the beginning of it where it is long. */
  text: string;
  isWhole: boolean;
  /** The package that offered it so first, where it is known: `name@1.2.3`. */
  package?: string;
}

/** One tool: what the user relies on, and what the server offers instead. One of both is there. */
export interface Pin {
  /** Absent for a tool that came later and was not accepted yet. */
  pinned?: Version;
  /** Absent where it is what was pinned. */
  offered?: Version;
}

/** By the names of the tools. */
export type PinRecord = ReadonlyMap<string, Pin>;

/** Longer than any honest definition. Of a longer one the hash counts, and its beginning is kept to be shown. */
const LONGEST_TEXT = 256 * 1024;
/** The limit for all definitions of a server together. Beyond it only hashes are kept. */
const MOST_TEXT = 4 * 2 ** 20;
const FORMAT = 1;

/** What is known of a definition besides itself. */
export interface Sighting {
  hash: string;
  at: string;
  package?: string | undefined;
  redact(tool: JsonObject): JsonObject;
}

export function versionOf(tool: JsonObject, { hash, at, redact, package: source }: Sighting): Version {
  const text = canonical(redact(pinnable(tool)));
  const isWhole = text.length <= LONGEST_TEXT;
  const shown = isWhole ? text : text.slice(0, LONGEST_TEXT);
  return { hash, at, text: shown, isWhole, ...(source !== undefined && { package: source }) };
}

/** Undefined where only a part of it was kept. */
export function definitionIn({ text, isWhole }: Version): JsonObject | undefined {
  return isWhole ? (JSON.parse(text) as JsonObject) : undefined;
}

export function writeRecord(server: string, record: PinRecord): string {
  let left = MOST_TEXT;
  const kept = (version: Version | undefined): Version | undefined => {
    if (version === undefined) return undefined;
    left -= version.text.length;
    return left >= 0 ? version : { ...version, text: '', isWhole: false };
  };
  const tools = [...record].map(([name, { pinned, offered }]) => ({
    name,
    pinned: kept(pinned),
    offered: kept(offered),
  }));
  return `${JSON.stringify({ format: FORMAT, server, tools }, null, 1)}\n`;
}

/** Throws when the text is not a valid record: a record that is read in part must not count as pins. */
export function readRecord(text: string): PinRecord {
  const file: unknown = JSON.parse(text);
  if (!isObject(file) || file.format !== FORMAT || !Array.isArray(file.tools)) throw new Error('no pins');
  return new Map(file.tools.map(readTool));
}

function readTool(tool: unknown): [string, Pin] {
  if (!isObject(tool) || typeof tool.name !== 'string') throw new Error('no tool');
  const { name, pinned, offered } = tool;
  if (pinned === undefined && offered === undefined) throw new Error('no version');
  return [
    name,
    {
      ...(pinned === undefined ? {} : { pinned: readVersion(pinned) }),
      ...(offered === undefined ? {} : { offered: readVersion(offered) }),
    },
  ];
}

function readVersion(version: unknown): Version {
  if (!isObject(version)) throw new Error('no version');
  const { hash, at, text, isWhole } = version;
  const isSound = typeof hash === 'string' && /^[\da-f]{64}$/.test(hash) && typeof isWhole === 'boolean';
  if (!isSound || typeof at !== 'string' || Number.isNaN(Date.parse(at)) || typeof text !== 'string')
    throw new Error('no version');
  if (isWhole && !isObject(JSON.parse(text))) throw new Error('no definition');
  const { package: source } = version;
  return { hash, at, text, isWhole, ...(typeof source === 'string' && { package: source }) };
}
