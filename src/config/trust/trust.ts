import { createHash } from 'node:crypto';
import { TrustRequiredError } from '../../shared/call-errors.js';
import { ToolherdError } from '../../shared/errors.js';
import { withFileLock } from '../../shared/files/file-lock.js';
import { replaceFile } from '../../shared/files/replace-file.js';
import { writeFailed } from '../../shared/files/write-user-file.js';
import { shellWord } from '../../shared/text/shell-word.js';
import { readEnvFileOf } from '../entry/environment.js';
import type { LaunchCommand } from '../entry/launch-command.js';
import { EXPANDED_FIELDS } from '../fields/entry-fields.js';
import { type ParsedEntry, type Report, stringMap, strings } from '../fields/parsed-entry.js';
import type { DataMap } from '../parse/document.js';
import { eachString, isMap } from '../parse/document.js';
import { parseJson } from '../parse/parse-json.js';
import { FileReadError, readIfExists } from '../parse/read-file.js';
import { parseReferences } from '../variables/variables.js';
import { trustedPath } from './trusted-path.js';

/** What one entry of a file that is not allowed yet would do, as written, without the value of any variable. */
export interface WouldRun {
  name: string;
  transport: string;
  /** argv of a stdio server. */
  run?: string[];
  cwd?: string;
  url?: string;
  /** Names only. */
  env: string[];
  /** Names of the variables that it reads from the environment; absent when there are none. */
  variables?: string[];
  envFile?: string;
  /** Names that the envFile sets; absent where it was not read. */
  envFileNames?: string[];
  /** Folders that the server gets as MCP roots; absent when there are none. */
  roots?: string[];
}

/** What `allow` covers: the bytes of the file, the manifests it names, and the names in its envFiles. */
export interface AllowedFile {
  sha256: string;
  manifests: Record<string, string>;
  envNames: Record<string, string[]>;
}

export type TrustCheck = 'allowed' | 'never' | 'changed';

/** The file is not allowed. None of its servers was started, and nothing in it was expanded. */
export class AgentFileNotAllowedError extends TrustRequiredError {
  readonly file: string;
  readonly reason: 'never' | 'changed';
  readonly wouldRun: readonly WouldRun[];

  /** `option`: what `allow` needs where it cannot ask. */
  constructor(file: string, reason: 'never' | 'changed', wouldRun: readonly WouldRun[], option = '') {
    const what = reason === 'never' ? 'was never allowed to run' : 'has changed since it was allowed';
    super(`${file} ${what}`, {
      why: 'a project file can start any program, so nothing in it is used before you allow it',
      fix: `read it, then: toolherd allow ${shellWord(file)}${option}`,
    });
    this.file = file;
    this.reason = reason;
    this.wouldRun = wouldRun;
  }
}

/**
 * The only error that a client of the HTTP port gets for an agent file. Any user of the machine may be that client, and
 * must not learn which paths exist or what a file holds.
 */
export class AgentFileRefusedError extends TrustRequiredError {
  constructor(file: string) {
    super(`The HTTP port does not serve the agent file ${file}`, {
      why: 'over the port only agent files that you allowed are used, and only as they were when you allowed them',
      fix: `run: toolherd allow ${shellWord(file)}`,
    });
  }
}

export interface PlannedEntry {
  entry: ParsedEntry;
  /** Undefined for remote servers. */
  launch: LaunchCommand | undefined;
}

/** What every enabled entry would do. `envNames`: the names in the envFiles, where they were read. */
export function wouldRunAll(
  planned: readonly PlannedEntry[],
  envNames?: AllowedFile['envNames'],
): WouldRun[] {
  const enabled = planned.filter(({ entry }) => entry.fields.enabled !== false);
  return enabled.map((one) => {
    const shown = wouldRun(one);
    const names = shown.envFile === undefined ? undefined : envNames?.[shown.envFile];
    return names === undefined ? shown : { ...shown, envFileNames: names };
  });
}

function wouldRun({ entry, launch }: PlannedEntry): WouldRun {
  const { fields, name, transport, context } = entry;
  const declared = launch?.plugin?.declared.map((variable) => variable.name) ?? [];
  const env = [...new Set([...Object.keys(stringMap(fields.env)), ...declared])];
  const args = launch?.args.map(({ text }) => text) ?? [];
  const variables = referencedVariables(entry, args);
  const roots = rootsAsWritten(fields);
  const rest = {
    env,
    ...(variables.length === 0 ? {} : { variables }),
    ...(typeof fields.envFile === 'string' ? { envFile: fields.envFile } : {}),
    ...(roots.length === 0 ? {} : { roots }),
  };
  if (launch === undefined) return { name, transport, url: String(fields.url), ...rest };
  const cwd = launch.cwd ?? launch.plugin?.folder ?? context.folder;
  return { name, transport, run: [launch.command, ...args], cwd, ...rest };
}

/** `roots`, and the directories that `config` allows, which become roots too. */
function rootsAsWritten({ roots, config }: ParsedEntry['fields']): string[] {
  const allowed = isMap(config) ? strings(config.allowed_directories) : [];
  return [...new Set([...strings(roots), ...allowed.filter((path) => typeof path === 'string')])];
}

/**
 * The names of the variables that an entry reads from the environment, as written: nothing is looked up. `args` are
 * those of its manifest. A name that the entry sets in `env` is not one of them, except in `env` itself.
 */
function referencedVariables({ fields }: ParsedEntry, args: readonly string[]): string[] {
  const env = stringMap(fields.env);
  const others = [...EXPANDED_FIELDS.map((field) => (field === 'env' ? null : fields[field])), args];
  const names = [...namesIn(env), ...namesIn(others).filter((name) => !Object.hasOwn(env, name))];
  return [...new Set(names)].sort();
}

function namesIn(value: unknown): string[] {
  const names: string[] = [];
  eachString(value, [], (text) => {
    for (const part of parseReferences(text)) if (part.kind === 'variable') names.push(part.name);
  });
  return names;
}

/**
 * The record of a file as it is now. It reads the envFiles, so call it only for a file that the user allows or is about
 * to decide on. `report` gets the problems of the envFiles.
 */
export async function recordOf(
  text: string,
  planned: readonly PlannedEntry[],
  report: Report = () => undefined,
): Promise<AllowedFile> {
  return { ...contentOf(text, planned), envNames: await envNames(planned, report) };
}

function contentOf(text: string, planned: readonly PlannedEntry[]): Omit<AllowedFile, 'envNames'> {
  const manifests: Record<string, string> = {};
  for (const { launch } of planned) {
    if (launch?.plugin !== undefined)
      manifests[launch.plugin.manifest.file] = sha256(launch.plugin.manifest.text);
  }
  return { sha256: sha256(text), manifests };
}

/** An envFile that cannot be read counts as empty. */
async function envNames(
  planned: readonly PlannedEntry[],
  report: Report = () => undefined,
): Promise<AllowedFile['envNames']> {
  // Without a prototype, since a file may be called `constructor`.
  const names: Record<string, string[]> = Object.create(null);
  for (const { entry } of planned) {
    const path = entry.fields.envFile;
    if (typeof path !== 'string' || names[path] !== undefined || entry.fields.enabled === false) continue;
    names[path] = Object.keys((await readEnvFileOf(entry, report)) ?? {}).sort();
  }
  return names;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The list of allowed files: one JSON file that only the user can read. */
export class TrustStore {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  /** True for a file that was allowed and not revoked. Does not read the file. `place` comes from `trustedPath`. */
  has(place: string): boolean {
    return isMap(this.#parse(this.#read())[place]);
  }

  /** The paths of all files that were allowed and not revoked. */
  files(): string[] {
    return Object.keys(this.#parse(this.#read()));
  }

  /** Compares the content first: the envFiles of a file that is not allowed are not opened. */
  async check(path: string, text: string, planned: readonly PlannedEntry[]): Promise<TrustCheck> {
    const record = this.#parse(this.#read())[trustedPath(path)];
    if (!isMap(record)) return 'never';
    const now = contentOf(text, planned);
    if (record.sha256 !== now.sha256 || !same(record.manifests, now.manifests)) return 'changed';
    return same(record.envNames, await envNames(planned)) ? 'allowed' : 'changed';
  }

  async allow(path: string, record: AllowedFile): Promise<void> {
    await this.#change((files) => ({ ...files, [trustedPath(path)]: { ...record } }));
  }

  /** False when the file was not allowed. A file that no longer exists can be revoked. */
  async revoke(path: string): Promise<boolean> {
    const place = trustedPath(path);
    let wasAllowed = false;
    await this.#change(({ [place]: record, ...rest }) => {
      wasAllowed = record !== undefined;
      return wasAllowed ? rest : undefined;
    });
    return wasAllowed;
  }

  /**
   * Two commands may change the list at once: a lost `revoke` would leave a file allowed. So each takes a lock before it
   * reads. `edit` returns undefined when nothing is to be written.
   */
  async #change(edit: (files: DataMap) => Record<string, unknown> | undefined): Promise<void> {
    try {
      await withFileLock(`${this.#file}.lock`, () => {
        const files = edit(this.#parse(this.#read()));
        if (files === undefined) return;
        replaceFile(this.#file, `${JSON.stringify({ version: 1, files }, null, 2)}\n`, { synced: 'before' });
      });
    } catch (error) {
      throw error instanceof ToolherdError ? error : writeFailed(this.#file, error);
    }
  }

  /** Undefined for a missing file. */
  #read(): string | undefined {
    try {
      return readIfExists(this.#file);
    } catch (error) {
      if (!(error instanceof FileReadError)) throw error;
      throw new ToolherdError('The list of allowed files cannot be read', {
        why: error.message,
        fix: error.fix,
      });
    }
  }

  #parse(text: string | undefined): DataMap {
    if (text === undefined) return Object.create(null);
    const { value } = parseJson(this.#file, text);
    const files = isMap(value) ? value.files : undefined;
    if (isMap(files)) return files;
    throw new ToolherdError(`${this.#file} is damaged`, {
      why: 'it does not hold the list of allowed files',
      fix: 'remove it, and allow your files again',
    });
  }
}

function same(a: unknown, b: unknown): boolean {
  return canonical(a) === canonical(b);
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner) =>
    isMap(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
}
