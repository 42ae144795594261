import { lstatSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type ParsedEntry, strings } from '../fields/parsed-entry.js';
import { type DataMap, isMap, type SourceDocument } from '../parse/document.js';
import { parseJson } from '../parse/parse-json.js';
import { FileReadError, fileReadError, readSmallFile, resolveInside } from '../parse/read-file.js';
import {
  type Declared,
  declaredVariables,
  escapeDollars,
  registryCommand,
  registryType,
} from './package-command.js';

/** The content of a plugin's manifest. Its `args` are expanded like those of an entry. */
export interface Plugin {
  folder: string;
  manifest: SourceDocument;
  description: string | undefined;
  command: string;
  args: string[];
  declared: Declared[];
}

const NAMES = ['plugin.json', 'server.json'] as const;

/** Reads a plugin's manifest. Throws a FileReadError or a ConfigError; runs nothing. */
export function readPlugin(entry: ParsedEntry): Plugin {
  const folder = pluginFolder(entry);
  const manifest = readManifest(folder, entry.fields.manifest as string | undefined);
  const packages =
    isMap(manifest.value) && Array.isArray(manifest.value.packages) ? manifest.value.packages : [];
  const hint = entry.fields.runtime_hint as string | undefined;
  const candidates = packages.filter(isMap).flatMap((pack) => readPackage(pack) ?? []);
  const fitting = candidates.find((candidate) => hint === undefined || candidate.command === hint);
  if (fitting === undefined) {
    const found = candidates.map(({ command }) => command).join(', ') || 'none';
    const wanted = hint === undefined ? 'that can be run over stdio' : `for runtime '${hint}'`;
    throw new FileReadError(
      `${manifest.file} has no package ${wanted} (runtimes found: ${found})`,
      hint === undefined
        ? 'give it a package with a runtime and a command'
        : 'change or remove the runtime hint',
    );
  }
  return { folder, manifest, description: descriptionOf(manifest), ...fitting };
}

function descriptionOf({ value }: SourceDocument): string | undefined {
  const text = isMap(value) ? value.description : undefined;
  return typeof text === 'string' && text.trim() !== '' ? text : undefined;
}

function pluginFolder(entry: ParsedEntry): string {
  const path = String(entry.fields.plugin_dir);
  const folder = resolve(entry.context.folder, path);
  if (isLink(folder)) throw new FileReadError(`${folder} is a symbolic link`, 'name the folder itself');
  // A project may only name plugins inside its own folder.
  return entry.context.isUserOwned ? folder : resolveInside(entry.context.folder, path);
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch (error) {
    throw fileReadError(path, error);
  }
}

function readManifest(folder: string, name: string | undefined): SourceDocument {
  const tried = name === undefined ? NAMES : [name];
  for (const candidate of tried) {
    try {
      return parseJson(join(folder, candidate), readSmallFile(resolveInside(folder, candidate)));
    } catch (error) {
      if (!(error instanceof FileReadError && error.isMissing)) throw error;
    }
  }
  throw new FileReadError(
    `${folder} has no ${tried.join(' or ')}`,
    'correct plugin_dir, or add the manifest',
  );
}

/** Reads a package in either form; undefined when it cannot be run over stdio. */
function readPackage(pack: DataMap): { command: string; args: string[]; declared: Declared[] } | undefined {
  if (registryType(pack) !== undefined) {
    const transport = isMap(pack.transport) ? pack.transport.type : undefined;
    return transport === 'stdio' ? registryCommand(pack) : undefined;
  }
  const runtime = pack.runtime;
  if (typeof runtime !== 'string' || (pack.transport_type ?? 'stdio') !== 'stdio') return undefined;
  const given = typeof pack.command === 'string' ? [pack.command] : strings(pack.command).filter(isText);
  const declared = declaredVariables(pack.environment_variables);
  return { command: runtime, args: runtimeArguments(runtime, given.map(escapeDollars)), declared };
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** The manifest says what the runtime should run; we add the runtime's own flags. */
function runtimeArguments(runtime: string, given: readonly string[]): string[] {
  const args = given[0] === runtime ? given.slice(1) : [...given];
  if (runtime === 'npx') return args.some((arg) => arg === '-y' || arg === '--yes') ? args : ['-y', ...args];
  if (runtime === 'docker') return args[0] === 'run' ? args : ['run', '-i', '--rm', ...args];
  return args;
}
