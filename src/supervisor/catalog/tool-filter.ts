import { nameFilter } from '../../shared/text/name-filter.js';

/** Which tools of a server may be seen and called: those that `allow` names, without those that `deny` names. */
export function toolFilter(tools: {
  allow: readonly string[];
  deny: readonly string[];
}): (name: string) => boolean {
  const isAllowed = nameFilter(tools.allow);
  const isDenied = nameFilter(tools.deny);
  return (name) => isAllowed(name) && !isDenied(name);
}
