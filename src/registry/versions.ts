import { compareVersions } from '../shared/text/compare-versions.js';
import type { RegistryServer } from './server.js';

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
