/**
 * Error texts of the SDK and of ws that have to be read, because no code and no class tells these cases apart. A test
 * compares each with what the installed version says.
 */

/** The SDK's streamable HTTP transport tries no more to open a stream again. */
export function gaveUpStream({ message }: Error): boolean {
  return message.startsWith('Maximum reconnection attempts');
}

/** Why the SDK's streamable HTTP transport reports a 3xx: the redirect that it did not follow, or the body. */
export function refusalReason(message: string): string {
  return message.slice(message.indexOf(': ') + 2);
}

/** The redirect that the SDK's SSE transport did not follow when it opened its stream; empty where there was none. */
export function unfollowedRedirect(message: string): string {
  return /Redirect .*/.exec(message)?.[0] ?? '';
}

/** Status and reason of a POST that the SDK's SSE transport reports as a plain error. */
export function refusedPost(message: string): { status: number; text: string } | undefined {
  const [, status, text = ''] = /\(HTTP (\d{3})\): (.*)/s.exec(message) ?? [];
  return status === undefined ? undefined : { status: Number(status), text };
}

/** ws: the server ignores the requested subprotocol. Many do, and speak MCP all the same. */
export function hasNoSubprotocol({ message }: Error): boolean {
  return message === 'Server sent no subprotocol';
}
