import { type DataMap, isMap } from '../config/parse/document.js';
import type { RegistryServer, ServerStatus } from './server.js';

const OFFICIAL = 'io.modelcontextprotocol.registry/official';
const CONTROL = /\p{Cc}/u;

/**
 * Reads one item of the registry leniently: the envelope may be missing, names may be in the older snake_case, unknown
 * fields are ignored. Returns the reason when the item is not a server.
 */
export function readServer(item: unknown): RegistryServer | { problem: string } {
  if (!isMap(item)) return { problem: 'it is not an object' };
  const server = isMap(item.server) ? item.server : item;
  const name = text(server.name);
  if (name === undefined) return { problem: 'it has no name' };
  if (CONTROL.test(name)) return { problem: 'its name has control characters' };
  for (const list of ['packages', 'remotes']) {
    const value = server[list] ?? [];
    if (!Array.isArray(value)) return { problem: `${name}: its ${list} are not a list` };
  }
  const about = aboutOf(item, server);
  return {
    name,
    title: text(server.title),
    description: text(server.description) ?? '',
    version: text(server.version) ?? '',
    status: statusOf(about.status ?? server.status),
    statusMessage: text(about.statusMessage),
    isLatest: flag(about.isLatest ?? about.is_latest),
    publishedAt: text(about.publishedAt ?? about.published_at),
    updatedAt: text(about.updatedAt ?? about.updated_at),
    repository: isMap(server.repository) ? text(server.repository.url) : undefined,
    website: text(server.websiteUrl ?? server.website_url),
    packages: maps(server.packages),
    remotes: maps(server.remotes),
  };
}

function aboutOf(item: DataMap, server: DataMap): DataMap {
  const meta = [item._meta, server._meta].find(isMap);
  const official = meta?.[OFFICIAL];
  return [official, item.meta, server.meta].find(isMap) ?? {};
}

function statusOf(value: unknown): ServerStatus {
  return value === 'deprecated' || value === 'deleted' ? value : 'active';
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function flag(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

function maps(value: unknown): DataMap[] {
  return Array.isArray(value) ? value.filter(isMap) : [];
}
