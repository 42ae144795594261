import type { CallParams } from '../../fleet/fleet.js';
import { cancelled } from '../../link/calls/refusals.js';
import type { MCPError } from '../../shared/call-errors.js';
import { disabled, unknownTool } from '../errors.js';
import { blockedTool } from '../pins/blocked.js';
import type { ViewServers } from '../view/view-servers.js';
import type { ConfiguredServer } from './configured-server.js';

/** Why a call cannot even be tried; undefined when it can. */
export function callRefusal(
  servers: ViewServers,
  { server: name, tool }: CallParams,
  signal: AbortSignal | undefined,
): MCPError | undefined {
  const server = servers.get(name);
  if (server === undefined) return servers.unknown(name);
  if (!server.spec.enabled) return disabled(server.spec);
  if (signal?.aborted) return cancelled(name, false, reasonOf(signal) ?? 'before it began');
  const refusal = toolRefusal(server, tool);
  if (refusal === undefined || !server.isComparedAnew) return refusal;
  // the process that is yet to come may have it as it was pinned
  return server.catalog.blockOf(tool) === undefined ? refusal : undefined;
}

/** Whether the server has such a tool, and it is what was pinned. */
export function toolRefusal(
  { spec, catalog }: Pick<ConfiguredServer, 'spec' | 'catalog'>,
  tool: string,
): MCPError | undefined {
  if (catalog.hasTool(tool)) return undefined;
  const block = catalog.blockOf(tool);
  if (block !== undefined) return blockedTool(spec.name, tool, block);
  return unknownTool(spec.name, tool, [...(catalog.keysOf('tools') ?? [])]);
}

export function reasonOf(signal: AbortSignal | undefined): string | undefined {
  return signal?.reason instanceof Error ? signal.reason.message : undefined;
}
