import type { McpResult } from '../../fleet/fleet.js';
import { CODE } from '../../shared/rpc-codes.js';

/** Empty where the server completes nothing. */
export async function emptyIfUnsupported(completing: Promise<McpResult>): Promise<McpResult> {
  try {
    return await completing;
  } catch (error) {
    if ((error as { code?: unknown }).code !== CODE.methodNotFound) throw error;
    return { completion: { values: [], total: 0, hasMore: false } };
  }
}
