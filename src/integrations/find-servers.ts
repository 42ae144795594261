import { basename, dirname, join } from 'node:path';
import { isMap } from '../config/parse/document.js';
import { formatPath } from '../config/parse/problem.js';
import { ToolherdError } from '../shared/errors.js';
import { type Secret, SecretExtractor } from './extract-secrets.js';
import { normalizeEntry, refusalOf } from './normalize-entry.js';
import type { Client, Machine, Scope } from './programs/client.js';
import type { Entry } from './programs/fields.js';
import { literal, type ReferenceContext } from './programs/references.js';
import { parseDocument, readClientFile } from './read-document.js';

/** A server of a client, in our spelling. */
export interface FoundServer {
  client: Client;
  file: string;
  /** Where in the file, for instance `mcpServers.github`. */
  path: string;
  name: string;
  entry: Entry;
  /** Its fields that have no home here. */
  homeless: string[];
  /** What means something else here. */
  remarks: string[];
  secrets: Secret[];
  /** Why it cannot be one of ours. */
  refusal: string | undefined;
}

/** A file that is there and cannot be read; the others go on. */
export interface BrokenFile {
  client: Client;
  file: string;
  message: string;
  why: string | undefined;
  fix: string | undefined;
}

export interface Findings {
  servers: FoundServer[];
  broken: BrokenFile[];
  /** Every file that was there. */
  files: string[];
}

export interface Search {
  clients: readonly Client[];
  scope: Scope;
  machine: Machine;
  /** The folder of the project. */
  folder: string;
  /** The folder of the file that the entries are meant for. */
  targetFolder: string;
}

/** Reads the files of clients. Nothing in them is expanded, and no value of a secret goes any further. */
export function findServers(search: Search): Findings {
  const findings: Findings = { servers: [], broken: [], files: [] };
  const extractor = new SecretExtractor();
  for (const client of search.clients) {
    for (const file of filesOf(client, search)) {
      try {
        const text = readClientFile(file);
        if (text === undefined) continue;
        findings.files.push(file);
        findings.servers.push(...serversOf(client, file, text, search, extractor));
      } catch (error) {
        if (!(error instanceof ToolherdError)) throw error;
        const { message, why, fix } = error;
        findings.broken.push({ client, file, message, why, fix });
      }
    }
  }
  return findings;
}

function filesOf(client: Client, { scope, machine, folder }: Search): readonly string[] {
  return scope === 'user' ? client.user(machine) : client.project.map((path) => join(folder, path));
}

function serversOf(
  client: Client,
  file: string,
  text: string,
  search: Search,
  extractor: SecretExtractor,
): FoundServer[] {
  const document = parseDocument(client.format, file, text);
  const ways = [{ keys: client.keys, isOfProject: search.scope === 'project' }];
  const private_ = search.scope === 'user' ? client.keysOfProject?.(search.folder) : undefined;
  if (private_ !== undefined) ways.push({ keys: private_, isOfProject: true });
  return ways.flatMap(({ keys, isOfProject }) =>
    namedEntries(at(document, keys)).map(([name, raw]) => {
      const path = formatPath([...keys, name]);
      const base = isOfProject
        ? search.folder
        : client.startsAtFile === true
          ? dirname(file)
          : search.machine.home;
      return {
        ...serverOf(client, name, raw, search, { isOfProject, base }, extractor),
        client,
        file,
        path,
        name,
      };
    }),
  );
}

function at(document: unknown, keys: readonly string[]): unknown {
  return keys.reduce<unknown>(
    (value, key) => (isMap(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    document,
  );
}

/** A map by name, or a list of entries that say theirs. */
function namedEntries(list: unknown): [string, unknown][] {
  if (isMap(list)) return Object.entries(list);
  if (!Array.isArray(list)) return [];
  return list.map((item) => [isMap(item) && typeof item.name === 'string' ? item.name : '', item]);
}

function serverOf(
  client: Client,
  name: string,
  raw: unknown,
  { folder, targetFolder }: Search,
  { isOfProject, base }: { isOfProject: boolean; base: string },
  extractor: SecretExtractor,
): Pick<FoundServer, 'entry' | 'homeless' | 'remarks' | 'secrets' | 'refusal'> {
  const nothing = { entry: { name }, homeless: [], remarks: [], secrets: [] };
  if (name === '') return { ...nothing, refusal: 'it has no name' };
  if (!isMap(raw)) return { ...nothing, refusal: 'it is not a map of fields' };
  const remarks = new Set<string>();
  const isAtHome = isOfProject && folder === targetFolder;
  const context: ReferenceContext = {
    get workspace() {
      if (isOfProject && !isAtHome) return literal(folder);
      if (!isOfProject) remarks.add(`\${workspaceFolder} means ${targetFolder} here`);
      return '${workspaceFolder}';
    },
    basename: isOfProject ? basename(folder) : undefined,
    remark: (text) => void remarks.add(text),
  };
  const { entry, homeless } = translated(client, raw, context);
  const origin = {
    name,
    title: client.title,
    folder: base,
    belongsToFolder: isOfProject && !isAtHome,
  };
  const settled = extractor.take(normalizeEntry(entry, origin));
  return { ...settled, homeless, remarks: [...remarks], refusal: refusalOf(settled.entry) };
}

function translated(
  { fields, references }: Client,
  raw: Record<string, unknown>,
  context: ReferenceContext,
): { entry: Entry; homeless: string[] } {
  const entry: Entry = {};
  const homeless = Object.keys(raw).filter((name) => !Object.hasOwn(fields, name));
  for (const [name, put] of Object.entries(fields)) {
    const value = Object.hasOwn(raw, name) ? (raw[name] ?? undefined) : undefined;
    if (value !== undefined && !put(entry, value, (text) => references(text, context))) homeless.push(name);
  }
  return { entry, homeless };
}

/** Whether this is what `attach` wrote: the herd is no server of itself. */
export function isOurBridge({ entry }: Pick<FoundServer, 'entry'>): boolean {
  const words = [entry.command, ...(Array.isArray(entry.args) ? entry.args : [])].map(String);
  const isCommand = (word: string) =>
    /^toolherd(@|$)/.test(basename(word)) ||
    (basename(word) === 'main.cjs' && basename(dirname(word)) === 'bin');
  return words.slice(0, Math.max(0, words.indexOf('bridge'))).some(isCommand);
}
