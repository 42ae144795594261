import type { CatalogEvent, FleetEvent } from '../ipc/fleet.js';
import { oneLine, quoted } from './plain-text.js';

/** An event as a person reads it, in one line; the words of a server may take more. */
export function eventLine(event: FleetEvent): string {
  return `${event.at} ${event.topic} ${oneLine(event.server)} ${about(event)}`;
}

function about(event: FleetEvent): string {
  switch (event.topic) {
    case 'state':
      return `${event.state} (${event.detail}): ${oneLine(event.cause)}`;
    case 'log':
      return `${event.level}${event.logger === null ? '' : ` ${oneLine(event.logger)}:`} ${quoted(event.message)}`;
    case 'catalog':
      return `${event.list}: ${event.count}${differences(event)}`;
    case 'call': {
      const what = oneLine(event.tool ?? event.method);
      const how = event.ok ? 'ok' : event.error;
      return `${what}: ${how} after ${Math.round(event.duration_ms)} ms, for ${event.caller ?? 'nobody'}`;
    }
    case 'notification':
      return `${oneLine(event.method)} ${oneLine(JSON.stringify(event.params))}`;
  }
}

function differences({ added, removed, changed }: CatalogEvent): string {
  const marked = [
    ...added.map((name) => `+${name}`),
    ...removed.map((name) => `-${name}`),
    ...changed.map((name) => `~${name}`),
  ];
  return marked.length === 0 ? '' : ` (${oneLine(marked.join(' '))})`;
}
