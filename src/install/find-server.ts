import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_REGISTRY, isRegistryUrl, readSettings } from '../config/fields/settings.js';
import { parseYaml } from '../config/parse/parse-yaml.js';
import { configError } from '../config/parse/problem.js';
import { FileReadError, readSmallFile } from '../config/parse/read-file.js';
import {
  type Found,
  type FoundOne,
  LATEST,
  openRegistry,
  type Registry,
  RegistryNotFoundError,
} from '../registry/index.js';
import { LONGEST_TIMER_MS } from '../shared/clock.js';
import { UsageError } from '../shared/report/usage-error.js';
import { shellWord } from '../shared/text/shell-word.js';
import type { InstallContext } from './context.js';
import { loadOptions } from './load-options.js';

const TRY_MS = 10_000;
const SUGGESTIONS = 5;
const VERSIONS = 10;

/** The registry of $TOOLHERD_REGISTRY, else of daemon.registry, else the official one. */
export function registryOf(context: InstallContext): Registry {
  const { timeout } = context.globals;
  const http = {
    fetch,
    sleep: (ms: number, signal: AbortSignal | undefined) => sleep(ms, undefined, { signal }),
    random: Math.random,
    tryMs: TRY_MS,
    signal: timeout === undefined ? undefined : AbortSignal.timeout(Math.min(timeout, LONGEST_TIMER_MS)),
  };
  const cacheFolder = join(context.paths.cacheFolder, 'registry');
  const base = baseOf(context);
  // errors and the cache would show them, and they are not sent
  if (URL.canParse(base) && `${new URL(base).username}${new URL(base).password}` !== '') {
    throw new UsageError('the url of the registry holds a user or a password', 'leave them out');
  }
  return openRegistry({ base, cacheFolder, http, now: Date.now });
}

function baseOf(context: InstallContext): string {
  const named = context.environment.TOOLHERD_REGISTRY;
  if (named === undefined || named === '') return configured(context);
  if (isRegistryUrl(named)) return named;
  throw new UsageError(
    'TOOLHERD_REGISTRY must use https:// (or http:// for localhost)',
    `for example ${DEFAULT_REGISTRY}`,
  );
}

/** A config that cannot be read may name a private registry: so no other one is asked. */
function configured(context: InstallContext): string {
  const { configFile, configRequired } = loadOptions(context, undefined);
  try {
    const { settings, problems } = readSettings(parseYaml(configFile, readSmallFile(configFile)));
    if (problems.length > 0) throw configError(problems);
    return settings.daemon.registry;
  } catch (error) {
    if (!(error instanceof FileReadError)) throw error;
    if (error.isMissing && configRequired !== true) return DEFAULT_REGISTRY;
    throw new UsageError(error.message, error.fix);
  }
}

/** Warns that an answer comes from the cache. */
export function noteOffline(
  { output }: InstallContext,
  { cachedAt, offline }: Pick<Found, 'cachedAt' | 'offline'>,
): void {
  if (offline === undefined) return;
  output.note(`warning: ${offline.message}: ${offline.why}; showing its answer of ${cachedAt}`);
}

/** Splits `NAME@VERSION`. A name may begin with an @. */
export function parseName(text: string): { name: string; version: string | undefined } {
  const at = text.lastIndexOf('@');
  if (at <= 0) return { name: text, version: undefined };
  if (at === text.length - 1) throw new UsageError('no version after @', 'leave out the @');
  return { name: text.slice(0, at), version: text.slice(at + 1) };
}

/** One server of the registry. If there is none of this name, the error suggests others. */
export async function findServer(
  registry: Registry,
  name: string,
  version: string | undefined,
): Promise<FoundOne> {
  try {
    return await registry.find(name, version ?? LATEST);
  } catch (error) {
    if (!(error instanceof RegistryNotFoundError)) throw error;
    const fix = await suggest(registry, name, version).catch(() => undefined);
    throw fix === undefined ? error : new RegistryNotFoundError(error.message, { fix });
  }
}

async function suggest(
  registry: Registry,
  name: string,
  version: string | undefined,
): Promise<string | undefined> {
  const versions = version === undefined ? [] : await registry.versions(name);
  if (versions.length > 0) {
    const more = versions.length > VERSIONS ? ', …' : '';
    return `there are: ${versions.slice(0, VERSIONS).join(', ')}${more}`;
  }
  const word = name.slice(name.lastIndexOf('/') + 1);
  const { servers } = await registry.search(word, SUGGESTIONS, undefined);
  if (servers.length === 0) return undefined;
  const names = servers.map((server) => server.name);
  return `use the full name: ${names.map(shellWord).join(', ')}; or see "toolherd search ${shellWord(word)}"`;
}
