import type { PinnedVersion, PinReport, ServerPins, ToolPin } from '../../fleet/fleet.js';
import type { ConfiguredServer } from '../server/configured-server.js';
import { definitionIn, type Pin, type Version } from './record.js';

type Source = Pick<ConfiguredServer, 'spec' | 'pinning'>;

/** Of all definitions in one answer: a person reads no more, and a line of the socket is limited. */
const MOST_TEXT = 8 * 2 ** 20;

/** What is pinned of these servers, and where they offer something else. */
export function reportPins(servers: readonly Source[]): Omit<PinReport, 'policy' | 'accepted'> {
  let left = MOST_TEXT;
  const withText = (version: Version | undefined): PinnedVersion | null => {
    if (version === undefined) return null;
    const { text } = version;
    left -= text.length;
    if (left < 0) return seenOf(version);
    const definition = definitionIn(version);
    return { ...seenOf(version), ...(definition === undefined ? { excerpt: text } : { definition }) };
  };
  return { servers: servers.map((server) => pinsOf(server, withText)) };
}

/** Definitions are shown where there is a difference: the others are in the list of the tools. */
function pinsOf(
  { spec, pinning }: Source,
  withText: (version: Version | undefined) => PinnedVersion | null,
): ServerPins {
  const { record, problem } = pinning?.readPins() ?? { record: new Map<string, Pin>(), problem: undefined };
  const tools = [...record].map(([tool, { pinned, offered }]): ToolPin => {
    if (offered === undefined && pinned !== undefined) {
      return { tool, state: 'pinned', blocked: false, pinned: seenOf(pinned), offered: null };
    }
    const state = pinned === undefined ? 'new' : 'changed';
    const blocked = pinning?.policy === 'enforce';
    return { tool, state, blocked, pinned: withText(pinned), offered: withText(offered) };
  });
  return { server: spec.name, problem: problem ?? null, tools };
}

function seenOf({ hash, at, package: source }: Version): PinnedVersion {
  return { hash, at, ...(source !== undefined && { package: source }) };
}
