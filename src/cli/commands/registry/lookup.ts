import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseYaml } from '../../../config/parse/parse-yaml.js';
import { configError } from '../../../config/parse/problem.js';
import { FileReadError, readSmallFile } from '../../../config/parse/read-file.js';
import { DEFAULT_REGISTRY, isRegistryUrl, readSettings } from '../../../config/schema/settings.js';
import { type Found, openRegistry, type Registry } from '../../../registry/index.js';
import { type CommandContext, UsageError } from '../../core/command.js';
import { loadOptions } from '../../core/config-paths.js';
import { parseDuration } from '../../core/duration.js';

const TRY_MS = 10_000;

/** The registry that a call means: $TOOLHERD_REGISTRY, else daemon.registry, else the official one. */
export function registryOf(call: CommandContext): Registry {
  const { timeout } = call.flags;
  const http = {
    fetch,
    sleep: (ms: number, signal: AbortSignal | undefined) => sleep(ms, undefined, { signal }),
    random: Math.random,
    tryMs: TRY_MS,
    signal: typeof timeout === 'string' ? AbortSignal.timeout(parseDuration(timeout)) : undefined,
  };
  const cacheFolder = join(call.paths.cacheFolder, 'registry');
  const base = baseOf(call);
  // It would stand in errors and in the cache, and is not sent.
  if (URL.canParse(base) && `${new URL(base).username}${new URL(base).password}` !== '') {
    throw new UsageError('the url of the registry holds a user or a password', 'leave them out');
  }
  return openRegistry({ base, cacheFolder, http, now: Date.now });
}

function baseOf(call: CommandContext): string {
  const named = call.environment.TOOLHERD_REGISTRY;
  if (named === undefined || named === '') return configured(call);
  if (isRegistryUrl(named)) return named;
  throw new UsageError(
    'TOOLHERD_REGISTRY must use https:// (or http:// for localhost)',
    `for example ${DEFAULT_REGISTRY}`,
  );
}

/** A config that cannot be read may name a registry of one's own: then no other is asked. */
function configured(call: CommandContext): string {
  const { configFile, configRequired } = loadOptions(call, undefined);
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

/** An answer from another day is said to be one. */
export function noteOffline(
  { output }: CommandContext,
  { cachedAt, offline }: Pick<Found, 'cachedAt' | 'offline'>,
): void {
  if (offline === undefined) return;
  output.note(`warning: ${offline.message}: ${offline.why}; this is what it said at ${cachedAt}`);
}

/** `NAME@VERSION`. A name may begin with an @. */
export function parseName(text: string): { name: string; version: string | undefined } {
  const at = text.lastIndexOf('@');
  if (at <= 0) return { name: text, version: undefined };
  if (at === text.length - 1) throw new UsageError('there is no version behind the @', 'leave out the @');
  return { name: text.slice(0, at), version: text.slice(at + 1) };
}
