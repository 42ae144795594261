import type { CallEvent, CatalogEvent, FleetEvent, Shape } from '../../../fleet/fleet.js';
import { quoted, singleLine } from '../../ui/text.js';

/** An event for people, on one line; the text of a server may take more. */
export function formatEvent(event: FleetEvent): string {
  return `${event.at} ${event.topic} ${singleLine(event.server)} ${about(event)}`;
}

function about(event: FleetEvent): string {
  switch (event.topic) {
    case 'state':
      return `${event.state} (${event.detail}): ${singleLine(event.cause)}`;
    case 'log':
      return `${event.level}${event.logger === null ? '' : ` ${singleLine(event.logger)}:`} ${quoted(event.message)}`;
    case 'catalog':
      return `${event.list}: ${event.count}${differences(event)}`;
    case 'call': {
      const what = singleLine(`${event.tool ?? event.method}${argumentsOf(event)}`);
      const how = event.ok ? 'ok' : event.error;
      const unsent = event.sent ? '' : ', not sent';
      return `${what}: ${how} after ${Math.round(event.duration_ms)} ms${unsent}, for ${whoCalled(event)}`;
    }
    case 'notification':
      return `${singleLine(event.method)} ${singleLine(JSON.stringify(event.params))}`;
  }
}

/** The types of the arguments: `(path: string, tags: string[])`. */
function argumentsOf({ arguments: shape }: CallEvent): string {
  if (shape === null || typeof shape !== 'object' || Array.isArray(shape)) return '';
  return `(${membersOf(shape)})`;
}

function membersOf(shape: Record<string, Shape>): string {
  return Object.entries(shape)
    .map(([name, of]) => `${name}: ${typeName(of)}`)
    .join(', ');
}

function typeName(shape: Shape): string {
  if (typeof shape === 'string') return shape;
  if (Array.isArray(shape)) return `${typeName(shape[0] ?? 'unknown')}[]`;
  return `{${membersOf(shape)}}`;
}

function whoCalled({ client, caller, via, agent }: CallEvent): string {
  const where = [client && caller, via, agent].filter(Boolean).join(', ');
  const who =
    client === null ? (caller ?? 'unknown') : [client.name, client.version].filter(Boolean).join(' ');
  return singleLine(`${who} (${where})`);
}

function differences({ added, removed, changed, unaccepted = [] }: CatalogEvent): string {
  const marked = [
    ...added.map((name) => `+${name}`),
    ...removed.map((name) => `-${name}`),
    ...changed.map((name) => `~${name}`),
    ...unaccepted.map((name) => `not as pinned: ${name}`),
  ];
  return marked.length === 0 ? '' : ` (${singleLine(marked.join(' '))})`;
}
