import { basename, dirname, join } from 'node:path';
import { isMap } from '../config/parse/document.js';
import { formatPath } from '../config/parse/problem.js';
import { ToolherdError } from '../shared/errors.js';
import { parseDocument, readClientFile } from './client-file.js';
import type { Client, Machine, Scope } from './clients/client.js';
import type { Entry } from './clients/fields.js';
import { literal, type ReferenceContext } from './clients/references.js';
import { type Secret, SecretExtractor } from './extract-secrets.js';
import { normalizeEntry, refusalOf } from './normalize-entry.js';

/** A server of a client, as an entry of ours. */
export interface FoundServer {
  client: Client;
  file: string;
  /** Where in the file, for example `mcpServers.github`. */
  path: string;
  name: string;
  entry: Entry;
  /** Fields of the client that toolherd has no equivalent for. */
  unsupportedFields: string[];
  /** Values whose meaning changes in our file. */
  remarks: string[];
  secrets: Secret[];
  /** Why it cannot be imported. */
  refusal: string | undefined;
}

/** A file that exists but cannot be read. The other files are still read. */
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
  /** Every file that exists. */
  files: string[];
  /** Every file that was looked for. */
  searched: { client: Client; file: string }[];
}

export interface Search {
  clients: readonly Client[];
  scope: Scope;
  machine: Machine;
  /** The folder of the project. */
  folder: string;
  /** The folder of the file that the entries will be written to. */
  targetFolder: string;
}

/** Reads the files of clients. Nothing in them is expanded, and secret values are replaced by variables. */
export function findServers(search: Search): Findings {
  const findings: Findings = { servers: [], broken: [], files: [], searched: [] };
  const extractor = new SecretExtractor();
  for (const client of search.clients) {
    for (const file of filesOf(client, search)) {
      findings.searched.push({ client, file });
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
  const lists = [{ keys: client.keys, isOfProject: search.scope === 'project' }];
  const projectKeys = search.scope === 'user' ? client.keysOfProject?.(search.folder) : undefined;
  if (projectKeys !== undefined) lists.push({ keys: projectKeys, isOfProject: true });
  return lists.flatMap(({ keys, isOfProject }) =>
    namedEntries(at(document, keys)).map(([name, raw]) => {
      const path = formatPath([...keys, name]);
      const base = isOfProject
        ? search.folder
        : client.pathsStartAtFile === true
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

/** Clients write either a map by name, or a list of entries with a `name`. */
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
): Pick<FoundServer, 'entry' | 'unsupportedFields' | 'remarks' | 'secrets' | 'refusal'> {
  const empty = { entry: { name }, unsupportedFields: [], remarks: [], secrets: [] };
  if (name === '') return { ...empty, refusal: 'it has no name' };
  if (!isMap(raw)) return { ...empty, refusal: 'it is not a map of fields' };
  const remarks = new Set<string>();
  const isSameFolder = isOfProject && folder === targetFolder;
  const context: ReferenceContext = {
    get workspace() {
      if (isOfProject && !isSameFolder) return literal(folder);
      if (!isOfProject) remarks.add(`\${workspaceFolder} means ${targetFolder} here`);
      return '${workspaceFolder}';
    },
    basename: isOfProject ? basename(folder) : undefined,
    remark: (text) => void remarks.add(text),
  };
  const { entry, unsupportedFields } = translated(client, raw, context);
  const origin = {
    name,
    title: client.title,
    folder: base,
    belongsToFolder: isOfProject && !isSameFolder,
  };
  const extracted = extractor.extract(normalizeEntry(entry, origin));
  const { placeOf = (place: string) => place } = client;
  const secrets = extracted.secrets.map((secret) => ({ ...secret, at: placeOf(secret.at, raw) }));
  return {
    ...extracted,
    secrets,
    unsupportedFields,
    remarks: [...remarks],
    refusal: refusalOf(extracted.entry),
  };
}

function translated(
  { fields, references }: Client,
  raw: Record<string, unknown>,
  context: ReferenceContext,
): { entry: Entry; unsupportedFields: string[] } {
  const entry: Entry = {};
  const unsupportedFields = Object.keys(raw).filter((name) => !Object.hasOwn(fields, name));
  for (const [name, read] of Object.entries(fields)) {
    const value = Object.hasOwn(raw, name) ? (raw[name] ?? undefined) : undefined;
    if (value !== undefined && !read(entry, value, (text) => references(text, context)))
      unsupportedFields.push(name);
  }
  return { entry, unsupportedFields };
}

/** Whether `attach` wrote this entry. It must not be imported: the herd would be a server of itself. */
export function isOurBridge({ entry }: Pick<FoundServer, 'entry'>): boolean {
  const words = [entry.command, ...(Array.isArray(entry.args) ? entry.args : [])].map(String);
  const isCommand = (word: string) =>
    /^toolherd(@|$)/.test(basename(word)) ||
    (basename(word) === 'main.cjs' && basename(dirname(word)) === 'bin');
  return words.slice(0, Math.max(0, words.indexOf('bridge'))).some(isCommand);
}
