import { existsSync } from 'node:fs';
import { copyFile, rm } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ListKey } from '../config/edit/index.js';
import { isMap } from '../config/parse/document.js';
import { ToolherdError } from '../shared/errors.js';
import { writeFileAtomically } from '../shared/files/write-user-file.js';
import { type AttachRecord, missingFolders } from './attach-record.js';
import { parseDocument, readClientFile } from './client-file.js';
import type { Client, Program } from './clients/client.js';
import { isOurBridge } from './find-servers.js';
import { removeJson, setJson } from './json-entry.js';
import { removeToml, setToml } from './toml-entry.js';
import { removeFromYamlList, removeFromYamlMap, setInYamlList, setInYamlMap } from './yaml-entry.js';

/** The name of our entry in a client's file. */
const ENTRY_NAME = 'toolherd';

interface AttachOutcome {
  file: string;
  /** `unchanged`: the client was already attached. */
  change: 'created' | 'added' | 'replaced' | 'unchanged';
  before: string;
  after: string;
  backup: string | undefined;
}

interface DetachOutcome {
  file: string;
  /** `restored`: the file, or the entry that `attach` replaced, is as it was; `deleted`: the file held nothing but our entry. */
  change: 'removed' | 'restored' | 'deleted' | 'unchanged';
  before: string;
  after: string;
  /** The backup, where it is the only copy of what the file held. */
  backup: string | undefined;
}

interface Options {
  dryRun: boolean;
  record: AttachRecord;
}

/** Writes the entry that connects a client to the herd. Every other byte of its file stays. */
export async function attachClient(
  client: Client,
  file: string,
  program: Program,
  { dryRun, record }: Options,
): Promise<AttachOutcome> {
  const entry = client.toClientEntry?.(program);
  if (entry === undefined) throw new Error(`${client.name} cannot run toolherd`);
  const text = readClientFile(file);
  const before = text ?? client.newFile ?? '';
  const current = entryIn(client, file, before);
  const after = setEntry(client, before, entry);
  const known = { file, before, after };
  if (isDeepStrictEqual(current, entry))
    return { ...known, after: before, change: 'unchanged', backup: undefined };
  assertOnlyEntry(client, file, before, after, entry);
  const change = text === undefined ? 'created' : current === undefined ? 'added' : 'replaced';
  // A file that has an entry of ours is not the original. The first attach has made the backup, or the file itself.
  const isBackedUp = text === undefined || isOurs(current) || isLost(file, text);
  const backup = isBackedUp ? undefined : backupOf(file);
  if (!dryRun) {
    const folders = missingFolders(file);
    if (backup !== undefined) await writeBackup(file, backup);
    await writeFileAtomically(file, after, { expected: text === undefined ? null : Buffer.from(text) });
    if (text === undefined) record.add(file, folders);
  }
  return { ...known, change, backup };
}

/**
 * Removes our entry, and the backup and the folders that `attach` made. An entry of the same name that is not ours stays.
 * A backup stays when it is the only copy of what the file held.
 */
export async function detachClient(client: Client, file: string, options: Options): Promise<DetachOutcome> {
  const outcome = await removeOurs(client, file, options);
  const backup = isOnlyCopy(client, outcome) ? backupOf(file) : undefined;
  if (options.dryRun) return { ...outcome, backup };
  if (backup === undefined) await rm(backupOf(file), { force: true });
  options.record.remove(file);
  return { ...outcome, backup };
}

type Removal = Omit<DetachOutcome, 'backup'>;

async function removeOurs(client: Client, file: string, { dryRun, record }: Options): Promise<Removal> {
  const before = readClientFile(file) ?? '';
  const entry = entryIn(client, file, before);
  if (!isOurs(entry)) return { file, before, after: before, change: 'unchanged' };
  // When the file has not changed since `attach`, its original is restored byte for byte.
  const original = originalOf(client, file, before, entry);
  const replaced = replacedEntry(client, file);
  if (original === undefined && replaced === undefined && isOnlyOurs(client, file, before, entry, record)) {
    if (!dryRun) await rm(file);
    return { file, before, after: '', change: 'deleted' };
  }
  const rest = replaced === undefined ? removeEntry(client, before) : setEntry(client, before, replaced);
  const after = original ?? rest;
  assertOnlyEntry(client, file, before, after, replaced);
  if (!dryRun) await writeFileAtomically(file, after, { expected: Buffer.from(before) });
  const isRestored = original !== undefined || replaced !== undefined;
  return { file, before, after, change: isRestored ? 'restored' : 'removed' };
}

/** Whether the file holds less than its backup for another reason than `detach`. */
function isOnlyCopy(client: Client, { file, before, change }: Removal): boolean {
  if (change === 'deleted') return isLost(file, '');
  if (change !== 'unchanged') return false;
  const isDropped = entryIn(client, file, before) === undefined && replacedEntry(client, file) !== undefined;
  return isDropped || isLost(file, before);
}

/** Whether the file has become empty since its backup was made. */
function isLost(file: string, text: string): boolean {
  return text.trim() === '' && existsSync(backupOf(file));
}

/** Whether `attach` made the file and the client added nothing but the address of its schema, as opencode does. */
function isOnlyOurs(
  client: Client,
  file: string,
  text: string,
  entry: unknown,
  record: AttachRecord,
): boolean {
  if (text === setEntry(client, client.newFile ?? '', entry)) return true;
  if (!record.hasMade(file)) return false;
  const { rest } = splitEntry(parseDocument(client.format, file, text), client.keys);
  return isMap(rest) && Object.keys(rest).every((key) => key === '$schema');
}

/** Whether the file has our entry. False for a file that cannot be read. */
export function isAttached(client: Client, file: string): boolean {
  try {
    return isOurs(entryIn(client, file, readClientFile(file) ?? ''));
  } catch {
    return false;
  }
}

/** The text of a file that holds only this entry. */
export function formatEntry(client: Client, entry: unknown): string {
  return setEntry(client, '', entry).trimEnd();
}

/** The path of the backup that is made before a file is changed. */
function backupOf(file: string): string {
  return `${file}.before-toolherd`;
}

function originalOf(client: Client, file: string, now: string, entry: unknown): string | undefined {
  try {
    const original = readClientFile(backupOf(file));
    if (original === undefined || isOurs(entryIn(client, file, original))) return undefined;
    return setEntry(client, original, entry) === now ? original : undefined;
  } catch {
    return undefined;
  }
}

/** The entry of another program that `attach` replaced. */
function replacedEntry(client: Client, file: string): unknown {
  const backup = backupOf(file);
  try {
    const entry = entryIn(client, backup, readClientFile(backup) ?? '');
    return isOurs(entry) ? undefined : entry;
  } catch {
    return undefined;
  }
}

/** The copy keeps the permissions of the file, since it holds the same content. */
async function writeBackup(file: string, backup: string): Promise<void> {
  try {
    await rm(backup, { force: true });
    await copyFile(file, backup);
  } catch (cause) {
    throw new ToolherdError(`${backup} could not be written`, {
      why: `${cause instanceof Error ? cause.message : cause}; ${file} is as it was`,
      fix: 'make its folder writable for you',
      cause,
    });
  }
}

/** The user may have another server under the same name. */
function isOurs(entry: unknown): boolean {
  if (!isMap(entry)) return false;
  const { command: program = entry.cmd, args: rest = [] } = isMap(entry.transport) ? entry.transport : entry;
  const [command, ...args] = [program, rest].flat();
  return isOurBridge({ entry: { command, args } });
}

interface Editor {
  set(text: string, client: Client, entry: unknown): string;
  remove(text: string, client: Client): string;
}

const EDITORS: Record<Client['format'], Editor> = {
  json: {
    set: (text, { keys }, entry) => setJson(text, keys, ENTRY_NAME, entry),
    remove: (text, { keys }) => removeJson(text, keys, ENTRY_NAME),
  },
  toml: {
    set: (text, { keys }, entry) => setToml(text, keys, ENTRY_NAME, entry),
    remove: (text, { keys }) => removeToml(text, keys, ENTRY_NAME),
  },
  // The YAML files that toolherd edits have their servers below one key.
  yaml: {
    set: (text, { keys: [key = ''], listed }, entry) =>
      listed === true
        ? setInYamlList(text, key as ListKey, ENTRY_NAME, entry)
        : setInYamlMap(text, key, ENTRY_NAME, entry),
    remove: (text, { keys: [key = ''], listed }) =>
      listed === true
        ? removeFromYamlList(text, key as ListKey, ENTRY_NAME)
        : removeFromYamlMap(text, key, ENTRY_NAME),
  },
};

function setEntry(client: Client, text: string, entry: unknown): string {
  return EDITORS[client.format].set(text, client, entry);
}

function removeEntry(client: Client, text: string): string {
  return EDITORS[client.format].remove(text, client);
}

function entryIn(client: Client, file: string, text: string): unknown {
  return splitEntry(parseDocument(client.format, file, text), client.keys).entry;
}

/** Checks every edit before it is written: the new text must parse and must differ in the one entry only. */
function assertOnlyEntry(client: Client, file: string, before: string, after: string, entry: unknown): void {
  let now: ReturnType<typeof splitEntry> | undefined;
  try {
    now = splitEntry(parseDocument(client.format, file, after), client.keys);
  } catch {
    now = undefined;
  }
  const original = splitEntry(parseDocument(client.format, file, before), client.keys);
  if (
    now !== undefined &&
    isDeepStrictEqual(now.entry, entry) &&
    isDeepStrictEqual(plain(now.rest), plain(original.rest))
  )
    return;
  const isForm = isMap(parseDocument(client.format, file, before));
  const form = `'${client.keys.join('.')}' is written in a form that toolherd cannot edit`;
  throw new ToolherdError(`${file} cannot be edited`, {
    why: `${isForm ? form : 'its content is no map of keys and values'}. Nothing was written.`,
    fix:
      entry === undefined
        ? `remove '${[...client.keys, ENTRY_NAME].join('.')}' by hand`
        : `write it by hand:\n${formatEntry(client, entry)}`,
  });
}

/** Separates a document and our entry in it. Maps that held only the entry are left out of `rest`. */
function splitEntry(document: unknown, keys: readonly string[]): { entry: unknown; rest: unknown } {
  const [key, ...deeper] = [...keys, ENTRY_NAME];
  return splitAt(document, key ?? '', deeper);
}

function splitAt(value: unknown, key: string, deeper: readonly string[]): { entry: unknown; rest: unknown } {
  // clients read a key without a value as an empty map
  if (value === null) return { entry: undefined, rest: {} };
  if (!isMap(value) || !Object.hasOwn(value, key)) return { entry: undefined, rest: value };
  const { [key]: inner, ...others } = value as Record<string, unknown>;
  const [next, ...last] = deeper;
  if (next === undefined) return { entry: plain(inner), rest: others };
  const { entry, rest } = Array.isArray(inner) ? splitList(inner, next) : splitAt(inner, next, last);
  const isEmpty = typeof rest === 'object' && rest !== null && Object.keys(rest).length === 0;
  return { entry, rest: isEmpty ? others : { ...others, [key]: rest } };
}

function splitList(list: readonly unknown[], name: string): { entry: unknown; rest: unknown } {
  const entry = list.find((item) => isMap(item) && item.name === name);
  return { entry: plain(entry), rest: list.filter((item) => item !== entry) };
}

/** Parsers return objects with different prototypes; a comparison needs plain ones. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
