import { existsSync } from 'node:fs';
import { copyFile, rm } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { writeFileAtomically } from '../config/edit/index.js';
import { isMap } from '../config/parse/document.js';
import { ToolherdError } from '../shared/errors.js';
import { isOurBridge } from './find-servers.js';
import { removeJson, setJson } from './json-entry.js';
import type { Client, Program } from './programs/client.js';
import { parseDocument, readClientFile } from './read-document.js';
import { removeToml, setToml } from './toml-entry.js';

/** The name under which a client knows the herd. */
const ENTRY_NAME = 'toolherd';

interface AttachOutcome {
  file: string;
  /** `unchanged`: it was attached already. */
  change: 'created' | 'added' | 'replaced' | 'unchanged';
  before: string;
  after: string;
  backup: string | undefined;
}

interface DetachOutcome {
  file: string;
  /** `restored`: the file is again as it was before; `deleted`: it was there for this entry only. */
  change: 'removed' | 'restored' | 'deleted' | 'unchanged';
  before: string;
  after: string;
}

interface Options {
  dryRun: boolean;
}

/** Writes the one entry that points a client at the herd; everything else in its file stays byte for byte. */
export async function attachClient(
  client: Client,
  file: string,
  program: Program,
  { dryRun }: Options,
): Promise<AttachOutcome> {
  const entry = client.spell?.(program);
  if (entry === undefined) throw new Error(`${client.name} runs no program of others`);
  const text = readClientFile(file);
  const before = text ?? '';
  const there = entryIn(client, file, before);
  const after = put(client, before, entry);
  const known = { file, before, after };
  if (isDeepStrictEqual(there, entry))
    return { ...known, after: before, change: 'unchanged', backup: undefined };
  assertOnlyEntry(client, file, before, after, entry);
  const change = text === undefined ? 'created' : there === undefined ? 'added' : 'replaced';
  const backup = text === undefined ? undefined : backupOf(file);
  if (!dryRun) {
    // The copy from before an older entry of ours is the one to keep.
    const isKept = isOurs(there) && existsSync(backupOf(file));
    if (backup !== undefined && !isKept) await keepCopy(file, backup);
    await writeFileAtomically(file, after, { expected: text === undefined ? null : Buffer.from(text) });
  }
  return { ...known, change, backup };
}

/** Takes the entry away again. One of that name that is not ours stays. */
export async function detachClient(
  client: Client,
  file: string,
  { dryRun }: Options,
): Promise<DetachOutcome> {
  const before = readClientFile(file) ?? '';
  const entry = entryIn(client, file, before);
  if (!isOurs(entry)) return { file, before, after: before, change: 'unchanged' };
  const backup = backupOf(file);
  // Nobody has touched the file since: what it was is known to the byte.
  const old = originalOf(client, backup, before, entry);
  if (old === undefined && before === put(client, '', entry)) {
    if (!dryRun) await rm(file);
    return { file, before, after: '', change: 'deleted' };
  }
  const after = old ?? take(client, before);
  assertOnlyEntry(client, file, before, after, old === undefined ? undefined : entryIn(client, file, old));
  if (!dryRun) {
    await writeFileAtomically(file, after, { expected: Buffer.from(before) });
    if (old !== undefined) await rm(backup);
  }
  return { file, before, after, change: old === undefined ? 'removed' : 'restored' };
}

/** Whether there is such an entry. A file that cannot be read has none. */
export function isAttached(client: Client, file: string): boolean {
  try {
    return isOurs(entryIn(client, file, readClientFile(file) ?? ''));
  } catch {
    return false;
  }
}

/** The entry as it stands in a file that holds nothing else. */
export function formatEntry(client: Client, entry: unknown): string {
  return put(client, '', entry).trimEnd();
}

/** The name of the copy that is made before a file is changed. */
function backupOf(file: string): string {
  return `${file}.before-toolherd`;
}

function originalOf(client: Client, backup: string, now: string, entry: unknown): string | undefined {
  try {
    const old = readClientFile(backup);
    if (old === undefined || isOurs(entryIn(client, backup, old))) return undefined;
    return put(client, old, entry) === now ? old : undefined;
  } catch {
    return undefined;
  }
}

/** With the same permissions: it holds what the file held. */
async function keepCopy(file: string, backup: string): Promise<void> {
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

/** Somebody may have an entry of that name that is something else. */
function isOurs(entry: unknown): boolean {
  if (!isMap(entry)) return false;
  const [command, ...args] = [entry.command, entry.args ?? []].flat();
  return isOurBridge({ entry: { command, args } });
}

function put(client: Client, text: string, entry: unknown): string {
  return client.format === 'toml'
    ? setToml(text, client.keys, ENTRY_NAME, entry)
    : setJson(text, client.keys, ENTRY_NAME, entry);
}

function take(client: Client, text: string): string {
  return client.format === 'toml'
    ? removeToml(text, client.keys, ENTRY_NAME)
    : removeJson(text, client.keys, ENTRY_NAME);
}

function entryIn(client: Client, file: string, text: string): unknown {
  return taken(parseDocument(client.format, file, text), client.keys).entry;
}

/** The net under every edit: the new text has to read, and to differ in the one entry alone. */
function assertOnlyEntry(client: Client, file: string, before: string, after: string, entry: unknown): void {
  let now: ReturnType<typeof taken> | undefined;
  try {
    now = taken(parseDocument(client.format, file, after), client.keys);
  } catch {
    now = undefined;
  }
  const old = taken(parseDocument(client.format, file, before), client.keys);
  if (
    now !== undefined &&
    isDeepStrictEqual(now.entry, entry) &&
    isDeepStrictEqual(plain(now.rest), plain(old.rest))
  )
    return;
  throw new ToolherdError(`${file} cannot be edited`, {
    why: `'${client.keys.join('.')}' is written in a form that only its author can change. Nothing was written.`,
    fix:
      entry === undefined
        ? `take '${[...client.keys, ENTRY_NAME].join('.')}' out by hand`
        : `write it by hand:\n${formatEntry(client, entry)}`,
  });
}

/** A document and the entry in it, apart. Maps on the way that hold nothing else count as absent. */
function taken(document: unknown, keys: readonly string[]): { entry: unknown; rest: unknown } {
  const [key, ...deeper] = [...keys, ENTRY_NAME];
  return takeFrom(document, key ?? '', deeper);
}

function takeFrom(value: unknown, key: string, deeper: readonly string[]): { entry: unknown; rest: unknown } {
  if (!isMap(value) || !Object.hasOwn(value, key)) return { entry: undefined, rest: value };
  const { [key]: inner, ...others } = value as Record<string, unknown>;
  const [next, ...last] = deeper;
  if (next === undefined) return { entry: plain(inner), rest: others };
  const { entry, rest } = takeFrom(inner, next, last);
  const isEmpty = isMap(rest) && Object.keys(rest).length === 0;
  return { entry, rest: isEmpty ? others : { ...others, [key]: rest } };
}

/** Parsers make objects without a prototype, or with one of their own. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
