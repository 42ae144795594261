import { isMap } from '../config/parse/document.js';
import { AnswerCache, type Kept } from './cache.js';
import { RegistryNotFoundError, RegistryUnreachableError } from './errors.js';
import { getWithRetries, type HttpOptions } from './get-with-retries.js';
import { readServer } from './read-server.js';
import type { RegistryServer } from './server.js';
import { latestOfEach } from './versions.js';

export interface RegistryOptions {
  /** With the version of the API: `https://…/v0.1`. */
  base: string;
  cacheFolder: string;
  asking: HttpOptions;
  now(): number;
}

export interface Found {
  servers: RegistryServer[];
  nextCursor: string | undefined;
  /** What was left out, and why. */
  skipped: string[];
  /** When the registry said this, where it could not be asked now. */
  cachedAt: string | undefined;
  /** Why it could not be asked. */
  offline: RegistryUnreachableError | undefined;
}

export interface FoundOne extends Pick<Found, 'cachedAt' | 'offline'> {
  server: RegistryServer;
}

export interface Registry {
  /** Follows pages until there are `limit` servers. Each is there once, in its latest version; deleted ones are not. */
  search(query: string, limit: number, cursor: string | undefined): Promise<Found>;
  /** Throws a RegistryNotFoundError. */
  find(name: string, version: string): Promise<FoundOne>;
  /** Newest first; empty where the server is not known. */
  versions(name: string): Promise<string[]>;
}

const PAGE = 100;
const MOST_PAGES = 50;
const TRIES = 4;
/** With an answer from another day at hand there is less reason to insist. */
const TRIES_WITH_CACHE = 2;

export const LATEST = 'latest';

interface Page {
  body: unknown;
  kept: Kept | undefined;
  offline: RegistryUnreachableError | undefined;
}

export function openRegistry({ base, cacheFolder, asking, now }: RegistryOptions): Registry {
  const cache = new AnswerCache(cacheFolder);
  const root = base.replace(/\/+$/, '');
  const at = (path: string) => new URL(`${root}/servers${path}`);

  /** Undefined: there is no such thing. */
  const get = async (url: URL, isUsable: (body: unknown) => boolean): Promise<Page | undefined> => {
    const kept = cache.find(url);
    try {
      const answer = await getWithRetries(url, kept === undefined ? TRIES : TRIES_WITH_CACHE, asking);
      if (answer.kind === 'not-found') return undefined;
      const body: unknown = JSON.parse(answer.body);
      if (!isUsable(body)) throw noRegistry(url);
      await cache.keep(url, answer.body, now());
      return { body, kept: undefined, offline: undefined };
    } catch (error) {
      if (!(error instanceof RegistryUnreachableError) || kept === undefined) throw error;
      return { body: JSON.parse(kept.body), kept, offline: error };
    }
  };

  const fromMemory = (error: unknown, choose: (known: RegistryServer[]) => RegistryServer[]) => {
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
    // Where they are of several days, the oldest tells.
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
        for (let pages = 0; pages < MOST_PAGES; pages++) {
          const url = at('');
          if (query !== '') url.searchParams.set('search', query);
          url.searchParams.set('limit', String(Math.min(PAGE, limit - found.servers.length)));
          if (found.nextCursor !== undefined) url.searchParams.set('cursor', found.nextCursor);
          url.searchParams.set('version', LATEST);
          const page = await get(url, isList);
          if (page === undefined) throw noApi(url);
          addPage(found, page);
          if (found.nextCursor === undefined || found.servers.length >= limit) break;
        }
        return found;
      } catch (error) {
        if (found.servers.length > 0 || cursor !== undefined) throw error;
        const wanted = query.toLowerCase();
        const memory = fromMemory(error, (known) =>
          present(latestOfEach(known.filter(({ name }) => name.toLowerCase().includes(wanted)))).slice(
            0,
            limit,
          ),
        );
        return { ...found, ...memory };
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
        if ('problem' in server) throw senseless(name, server.problem);
        if (server.name.toLowerCase() !== name.toLowerCase())
          throw senseless(name, `it tells of '${server.name}' instead`);
        return { server, cachedAt: page.kept?.fetchedAt, offline: page.offline };
      } catch (error) {
        const { servers, ...memory } = fromMemory(error, (known) => {
          const all = known.filter((server) => server.name === name);
          return version === LATEST
            ? latestOfEach(all)
            : all.filter((one) => one.version === version).slice(0, 1);
        });
        return { server: servers[0]!, ...memory };
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

function addPage(found: Found, { body, kept, offline }: Page): void {
  const { servers, skipped, nextCursor } = readPage(body);
  found.servers = present(latestOfEach([...found.servers, ...servers]));
  found.skipped.push(...skipped);
  // a cursor that leads back to itself would lead round for ever
  found.nextCursor = nextCursor === found.nextCursor ? undefined : nextCursor;
  found.cachedAt ??= kept?.fetchedAt;
  found.offline ??= offline;
}

function present(servers: readonly RegistryServer[]): RegistryServer[] {
  return servers.filter(({ status }) => status !== 'deleted');
}

/** A list, or a single server, which is a list of one. */
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

/** None may be written as null. */
function isList(body: unknown): boolean {
  return isMap(body) && (Array.isArray(body.servers) || (body.servers === null && isMap(body.metadata)));
}

/** Whoever answered, a network that wants a password perhaps: what is remembered stays. */
function noRegistry({ origin }: URL): RegistryUnreachableError {
  return new RegistryUnreachableError(`the registry at ${origin} cannot be used`, {
    why: 'its answer is not that of a registry',
    fix: 'check the network, and TOOLHERD_REGISTRY or daemon.registry if you use another registry',
  });
}

function senseless(name: string, problem: string): RegistryUnreachableError {
  return new RegistryUnreachableError(`what the registry says of '${name}' makes no sense`, {
    why: problem,
    fix: 'tell the people who published it',
  });
}

function noApi({ origin }: URL): RegistryUnreachableError {
  return new RegistryUnreachableError(`there is no registry at ${origin}`, {
    why: 'it does not know the list of servers (status 404)',
    fix: 'check TOOLHERD_REGISTRY or daemon.registry: it ends with the version, as in https://HOST/v0.1',
  });
}
