import { basename, isAbsolute, resolve } from 'node:path';
import { isRelativePath } from '../config/parse/relative-path.js';
import { hasReferences } from '../config/variables/variables.js';
import { stripUrl } from '../shared/secrets/hide-secrets.js';
import type { Entry } from './clients/fields.js';
import { literal } from './clients/references.js';

/** Where an entry comes from: its relative paths depend on it. */
export interface Origin {
  name: string;
  title: string;
  /** The folder that relative paths start from. */
  folder: string;
  /** The server must run in that folder. */
  belongsToFolder: boolean;
}

/** Completes an entry: adds what clients leave implicit, and makes paths absolute that start in another folder. */
export function normalizeEntry(entry: Entry, { name, title, folder, belongsToFolder }: Origin): Entry {
  const {
    transport = transportOf(entry),
    command,
    args,
    env,
    envFile,
    cwd,
    url,
    headers,
    plugin_dir,
    start_timeout,
    ...rest
  } = entry;
  const isLocal = transport === 'stdio';
  const absolute = (path: string) => (isRelative(path) ? literal(resolve(folder, path)) : path);
  // a program's relative paths are those of its working directory
  const base = typeof cwd === 'string' && /^[^$~]*$/.test(cwd) ? resolve(folder, cwd) : folder;
  const fromCwd = (path: string) => (isRelativePath(path) ? literal(resolve(base, path)) : path);
  const workingFolder = cwd ?? (belongsToFolder ? literal(folder) : undefined);
  const normalized = {
    name,
    description: `imported from ${title}`,
    server: serverOf(entry) ?? name,
    ...(isLocal ? {} : { transport }),
    command: typeof command === 'string' && isRelativePath(command) ? resolve(base, command) : command,
    args: isLocal && Array.isArray(args) ? args.map(fromCwd) : args,
    env,
    envFile: typeof envFile === 'string' ? absolute(envFile) : undefined,
    cwd: isLocal && typeof workingFolder === 'string' ? absolute(workingFolder) : undefined,
    plugin_dir: typeof plugin_dir === 'string' ? resolve(folder, plugin_dir) : undefined,
    url,
    headers,
    ...(start_timeout === undefined ? {} : { [isLocal ? 'start_timeout' : 'timeout']: start_timeout }),
    ...rest,
  };
  return Object.fromEntries(
    Object.entries(normalized).filter(([, value]) => value !== undefined && !isEmpty(value)),
  );
}

/** Why an entry cannot be imported; undefined when it can. */
export function refusalOf(entry: Entry): string | undefined {
  if (!isRunnable(entry)) return 'it has neither a command nor a url';
  if (entry.command !== undefined && entry.url !== undefined) return 'it has both a command and a url';
  if (typeof entry.command === 'string' && hasReferences(entry.command))
    return 'its command holds a variable';
  return undefined;
}

/** A plugin's manifest has the command. In the oldest form, `server` is the package that npx runs. */
function isRunnable({ command, url, plugin_dir, server }: Entry): boolean {
  return [command, url, plugin_dir].some((field) => field !== undefined) || /^@[^/]+\//.test(String(server));
}

function transportOf({ command, url }: Entry): string {
  if (command !== undefined || typeof url !== 'string') return 'stdio';
  if (/^wss?:/.test(url)) return 'websocket';
  // Clients find out by trying. By convention the path of an SSE server ends in /sse.
  return /\/sse\/?(\?|$)/.test(url) ? 'sse' : 'http';
}

/** The url, the package that a runner starts, or the name of the program. */
function serverOf({ command, args, url }: Entry): string | undefined {
  if (typeof url === 'string') return stripUrl(url);
  if (typeof command !== 'string') return undefined;
  const runner = /^(npx|uvx|bunx)$/.test(basename(command));
  const first = Array.isArray(args) ? args.find((arg) => !String(arg).startsWith('-')) : undefined;
  return runner && first !== undefined ? stripUrl(String(first)) : basename(command);
}

function isRelative(path: string): boolean {
  return !isAbsolute(path) && !path.startsWith('${') && !path.startsWith('~');
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
