import { basename, isAbsolute, resolve } from 'node:path';
import { hasReferences } from '../config/variables/variables.js';
import { stripUrl } from '../shared/hide-secrets.js';
import type { Entry } from './programs/fields.js';
import { literal } from './programs/references.js';

/** Where an entry comes from, as far as its relative paths depend on it. */
export interface Origin {
  name: string;
  title: string;
  /** The folder that its paths start from. */
  folder: string;
  /** Only in that folder does it find what it needs. */
  belongsToFolder: boolean;
}

/** Our entry made whole: what a client leaves unsaid, and paths that start in a folder other than ours. */
export function normalizeEntry(entry: Entry, { name, title, folder, belongsToFolder }: Origin): Entry {
  const {
    transport = transportOf(entry),
    command,
    args,
    env,
    cwd,
    url,
    headers,
    plugin_dir,
    start_timeout,
    ...rest
  } = entry;
  const isLocal = transport === 'stdio';
  const whole = (path: string) => (startsHere(path) ? literal(resolve(folder, path)) : path);
  const place = cwd ?? (belongsToFolder ? literal(folder) : undefined);
  const settled = {
    name,
    description: `imported from ${title}`,
    server: serverOf(entry) ?? name,
    ...(isLocal ? {} : { transport }),
    command: typeof command === 'string' && /^\.{1,2}\//.test(command) ? resolve(folder, command) : command,
    args:
      isLocal && Array.isArray(args) ? args.map((arg) => (/^\.{1,2}\//.test(arg) ? whole(arg) : arg)) : args,
    env,
    cwd: isLocal && typeof place === 'string' ? whole(place) : undefined,
    plugin_dir: typeof plugin_dir === 'string' ? resolve(folder, plugin_dir) : undefined,
    url,
    headers,
    ...(start_timeout === undefined ? {} : { [isLocal ? 'start_timeout' : 'timeout']: start_timeout }),
    ...rest,
  };
  return Object.fromEntries(
    Object.entries(settled).filter(([, value]) => value !== undefined && !isEmpty(value)),
  );
}

/** Why an entry cannot be one of ours, whatever else is right with it. */
export function refusalOf(entry: Entry): string | undefined {
  if (!isRunnable(entry)) return 'it has neither a command nor a url';
  if (entry.command !== undefined && entry.url !== undefined) return 'it has both a command and a url';
  if (typeof entry.command === 'string' && hasReferences(entry.command))
    return 'there is a variable in its command';
  return undefined;
}

/** A plugin says what it runs by itself; so does, in an older form, the name of a package. */
function isRunnable({ command, url, plugin_dir, server }: Entry): boolean {
  return [command, url, plugin_dir].some((field) => field !== undefined) || /^@[^/]+\//.test(String(server));
}

function transportOf({ command, url }: Entry): string {
  if (command !== undefined || typeof url !== 'string') return 'stdio';
  if (/^wss?:/.test(url)) return 'websocket';
  // The clients find it out by trying; the older way has this name by habit.
  return /\/sse\/?(\?|$)/.test(url) ? 'sse' : 'http';
}

/** The package that is run, where that can be told; the url; the program. */
function serverOf({ command, args, url }: Entry): string | undefined {
  if (typeof url === 'string') return stripUrl(url);
  if (typeof command !== 'string') return undefined;
  const runner = /^(npx|uvx|bunx)$/.test(basename(command));
  const first = Array.isArray(args) ? args.find((arg) => !String(arg).startsWith('-')) : undefined;
  return runner && first !== undefined ? stripUrl(String(first)) : basename(command);
}

function startsHere(path: string): boolean {
  return !isAbsolute(path) && !path.startsWith('${') && !path.startsWith('~');
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
