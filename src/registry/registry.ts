import { isMap } from '../config/parse/document.js';
import { compareVersions } from '../shared/text/compare-versions.js';
import { AnswerCache, type CachedAnswer } from './cache.js';
import { RegistryNotFoundError, RegistryUnreachableError, unusableRegistry } from './errors.js';
import { getWithRetries, type HttpOptions } from './get-with-retries.js';
import { readServer } from './read-server.js';
import type { RegistryServer } from './server.js';

export interface RegistryOptions {
  /** Includes the API version: `https://…/v0.1`. */
  base: string;
  cacheFolder: string;
  http: HttpOptions;
  now(): number;
}

export interface Found {
  servers: RegistryServer[];
  nextCursor: string | undefined;
  /** Items that were skipped, with the reason. */
  skipped: string[];
  /** The time of the cached answer; undefined for a fresh one. */
  cachedAt: string | undefined;
  /** Why the registry could not be reached. */
  offline: RegistryUnreachableError | undefined;
}

export interface FoundOne extends Pick<Found, 'cachedAt' | 'offline'> {
  server: RegistryServer;
}

export interface Registry {
  /** Reads pages until there are `limit` servers. Each appears once, in its latest version, without deleted ones. */
  search(query: string, limit: number, cursor: string | undefined): Promise<Found>;
  /** Throws a RegistryNotFoundError. */
  find(name: string, version: string): Promise<FoundOne>;
  /** Newest first; empty for an unknown server. */
  versions(name: string): Promise<string[]>;
}

const PAGE = 100;
const MAX_PAGES = 50;
const TRIES = 4;
/** Fewer tries when a cached answer can be used instead. */
const TRIES_WITH_CACHE = 2;

export const LATEST = 'latest';

interface Page {
  body: unknown;
  cached: CachedAnswer | undefined;
  offline: RegistryUnreachableError | undefined;
}

export function openRegistry({ base, cacheFolder, http, now }: RegistryOptions): Registry {
  const cache = new AnswerCache(cacheFolder);
  const root = base.replace(/\/+$/, '');
  const at = (path: string) => new URL(`${root}/servers${path}`);

  /** Undefined for a 404. */
  const get = async (url: URL, isUsable: (body: unknown) => boolean): Promise<Page | undefined> => {
    const cached = cache.find(url);
    try {
      const answer = await getWithRetries(url, cached === undefined ? TRIES : TRIES_WITH_CACHE, http);
      if (answer.kind === 'not-found') return undefined;
      const body: unknown = JSON.parse(answer.body);
      // something else answered, for example the login page of a network
      if (!isUsable(body)) throw unusableRegistry(url, 'its answer is not that of a registry');
      cache.save(url, answer.body, now());
      return { body, cached: undefined, offline: undefined };
    } catch (error) {
      if (!(error instanceof RegistryUnreachableError) || cached === undefined) throw error;
      return { body: JSON.parse(cached.body), cached, offline: error };
    }
  };

  const fromCache = (error: unknown, choose: (known: RegistryServer[]) => RegistryServer[]) => {
    if (!(error instanceof RegistryUnreachableError)) throw error;
    const times = new Map(
      cache
        .all(root)
        .flatMap(({ body, fetchedAt }) =>
          readPage(JSON.parse(body)).servers.map((server) => [server, fetchedAt] as const),
        ),
    );
    const servers = choose([...times.keys()]);
    if (servers.length === 0) throw error;
    // For answers of different ages the oldest time is reported.
    const [cachedAt] = servers.flatMap((server) => times.get(server) ?? []).sort();
    return { servers, cachedAt, offline: error };
  };

  return {
    async search(query, limit, cursor) {
      const found: Found = {
        servers: [],
        nextCursor: cursor,
        skipped: [],
        cachedAt: undefined,
        offline: undefined,
      };
      try {
        for (let pages = 0; pages < MAX_PAGES; pages++) {
          const url = at('');
          if (query !== '') url.searchParams.set('search', query);
          url.searchParams.set('limit', String(Math.min(PAGE, limit - found.servers.length)));
          if (found.nextCursor !== undefined) url.searchParams.set('cursor', found.nextCursor);
          url.searchParams.set('version', LATEST);
          const page = await get(url, isList);
          if (page === undefined) throw noServerList(url);
          addPage(found, page);
          if (found.nextCursor === undefined || found.servers.length >= limit) break;
        }
        return found;
      } catch (error) {
        if (found.servers.length > 0 || cursor !== undefined) throw error;
        const wanted = query.toLowerCase();
        const fromCached = fromCache(error, (known) =>
          notDeleted(latestOfEach(known.filter(({ name }) => name.toLowerCase().includes(wanted)))).slice(
            0,
            limit,
          ),
        );
        return { ...found, ...fromCached };
      }
    },
    async find(name, version) {
      try {
        const page = await get(
          at(`/${encodeURIComponent(name)}/versions/${encodeURIComponent(version)}`),
          isMap,
        );
        const server = page === undefined ? undefined : readServer(page.body);
        if (page === undefined || server === undefined) throw notFound(name, version);
        if ('problem' in server) throw invalidEntry(name, server.problem);
        if (server.name.toLowerCase() !== name.toLowerCase())
          throw invalidEntry(name, `the answer is about '${server.name}'`);
        return { server, cachedAt: page.cached?.fetchedAt, offline: page.offline };
      } catch (error) {
        const { servers, ...fromCached } = fromCache(error, (known) => {
          const all = known.filter((server) => server.name === name);
          return version === LATEST
            ? latestOfEach(all)
            : all.filter((one) => one.version === version).slice(0, 1);
        });
        return { server: servers[0]!, ...fromCached };
      }
    },
    async versions(name) {
      const page = await get(at(`/${encodeURIComponent(name)}/versions`), isList);
      if (page === undefined) return [];
      const { servers } = readPage(page.body);
      const ordered = servers.sort((a, b) => ((a.publishedAt ?? '') < (b.publishedAt ?? '') ? 1 : -1));
      return ordered.map(({ version }) => version);
    },
  };
}

function addPage(found: Found, { body, cached, offline }: Page): void {
  const { servers, skipped, nextCursor } = readPage(body);
  found.servers = notDeleted(latestOfEach([...found.servers, ...servers]));
  found.skipped.push(...skipped);
  // a cursor that repeats itself would loop for ever
  found.nextCursor = nextCursor === found.nextCursor ? undefined : nextCursor;
  found.cachedAt ??= cached?.fetchedAt;
  found.offline ??= offline;
}

function notDeleted(servers: readonly RegistryServer[]): RegistryServer[] {
  return servers.filter(({ status }) => status !== 'deleted');
}

/** A list of servers, or one server, which counts as a list of one. */
function readPage(body: unknown): Pick<Found, 'servers' | 'skipped' | 'nextCursor'> {
  const page = isMap(body) ? body : {};
  const items = Array.isArray(page.servers) ? page.servers : 'server' in page ? [page] : [];
  const read = items.map(readServer);
  const metadata = isMap(page.metadata) ? page.metadata : {};
  const next = metadata.nextCursor ?? metadata.next_cursor;
  return {
    servers: read.filter((one): one is RegistryServer => !('problem' in one)),
    skipped: read.flatMap((one, index) => ('problem' in one ? [`entry ${index + 1}: ${one.problem}`] : [])),
    nextCursor: typeof next === 'string' && next !== '' ? next : undefined,
  };
}

function notFound(name: string, version: string): RegistryNotFoundError {
  const what = version === LATEST ? `no server '${name}'` : `no version '${version}' of '${name}'`;
  return new RegistryNotFoundError(`the registry has ${what}`, { fix: 'see "toolherd search"' });
}

/** An empty list may be written as null. */
function isList(body: unknown): boolean {
  return isMap(body) && (Array.isArray(body.servers) || (body.servers === null && isMap(body.metadata)));
}

function invalidEntry(name: string, problem: string): RegistryUnreachableError {
  return new RegistryUnreachableError(`the registry's entry for '${name}' is invalid`, {
    why: problem,
    fix: 'report it to its publisher',
  });
}

function noServerList({ origin }: URL): RegistryUnreachableError {
  return new RegistryUnreachableError(`there is no registry at ${origin}`, {
    why: 'it has no list of servers (status 404)',
    fix: 'check TOOLHERD_REGISTRY or daemon.registry: the url ends with the API version, as in https://HOST/v0.1',
  });
}

/** Every server once, in its latest version, in order of first appearance. */
export function latestOfEach(servers: readonly RegistryServer[]): RegistryServer[] {
  const byName = new Map<string, RegistryServer>();
  for (const server of servers) {
    const other = byName.get(server.name);
    if (other === undefined || isNewer(server, other)) byName.set(server.name, server);
  }
  return [...byName.values()];
}

/** The registry's `isLatest` decides first, then the version, then the time. */
function isNewer(one: RegistryServer, other: RegistryServer): boolean {
  if (one.isLatest !== other.isLatest) return one.isLatest === true;
  const byVersion = compareVersions(one.version, other.version);
  return byVersion === 0 ? (one.publishedAt ?? '') > (other.publishedAt ?? '') : byVersion > 0;
}
