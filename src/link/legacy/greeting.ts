import type { Opened } from '../link.js';
import { isObject, type JsonObject } from '../session/message.js';

/** The versions that begin with `initialize`, the newest first: it is the one that is asked for. */
export const LEGACY_VERSIONS = [
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
  '2024-10-07',
] as const;

/** What a server said of itself, unknown fields and all. Throws where it is no answer to `initialize`. */
export function readGreeting(result: JsonObject): Opened {
  const { protocolVersion, serverInfo, capabilities, instructions } = result;
  if (typeof protocolVersion !== 'string' || !isObject(capabilities) || !isNamed(serverInfo))
    throw new Error('the reply to initialize has the wrong shape');
  if (!LEGACY_VERSIONS.some((version) => version === protocolVersion))
    throw new Error(`its protocol version is not supported: ${protocolVersion}`);
  return {
    protocolVersion,
    serverInfo,
    capabilities,
    instructions: typeof instructions === 'string' ? instructions : undefined,
  };
}

function isNamed(value: unknown): value is JsonObject {
  return isObject(value) && typeof value.name === 'string' && typeof value.version === 'string';
}
