import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../shared/clock.js';
import { MCP_CODE } from '../../shared/mcp/rpc-codes.js';
import type { Incoming } from '../jsonrpc/message.js';
import { PROTOCOL_VERSIONS } from '../mcp/server-info.js';
import type { FleetServer } from '../server/fleet-server.js';
import { headerRefusal, isMcp2026 } from './mcp-2026.js';
import { type Refusal, refuse } from './refusal.js';
import {
  acceptRefusal,
  contentRefusal,
  isRequestBody,
  MAX_BODY_BYTES,
  readBody,
  readRequestBody,
} from './request-body.js';
import type { Scope } from './routes.js';
import { HttpSession } from './session.js';
import { HttpSessions } from './sessions.js';
import { serveStateless } from './stateless.js';

export interface EndpointOptions {
  server: Pick<FleetServer, 'accept'>;
  clock: Clock;
}

const JSON_TYPE = 'application/json';
const EVENTS_TYPE = 'text/event-stream';

/** Streamable HTTP: with sessions up to 2025-11-25, without them since 2026-07-28. */
export class Endpoint {
  readonly #options: EndpointOptions;
  readonly sessions: HttpSessions;

  constructor(options: EndpointOptions) {
    this.#options = options;
    this.sessions = new HttpSessions(options);
  }

  async handle(scope: Scope, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal = await this.#handle(scope, request, response);
    if (refusal !== undefined) refuse(response, refusal);
  }

  async #handle(
    scope: Scope,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<Refusal | undefined> {
    switch (request.method) {
      case 'POST':
        return this.#post(scope, request, response);
      case 'GET':
        return this.#get(scope, request, response);
      case 'DELETE':
        return this.#delete(scope, request, response);
      default: {
        const headers = { Allow: 'GET, POST, DELETE' };
        return { status: 405, message: `${request.method} has no meaning here`, headers };
      }
    }
  }

  async #post(
    scope: Scope,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<Refusal | undefined> {
    const wrong = contentRefusal(request) ?? acceptRefusal(request, JSON_TYPE, EVENTS_TYPE);
    const body = await readBody(request);
    if (wrong !== undefined) return wrong;
    if (body === undefined) return { status: 413, message: `a body of more than ${MAX_BODY_BYTES} bytes` };
    const requestBody = readRequestBody(body);
    if (!isRequestBody(requestBody)) return requestBody;
    const [first] = requestBody.messages;
    if (first !== undefined && !requestBody.isBatch && isMcp2026(first.incoming, request.headers)) {
      return this.#postMcp2026(scope, first.incoming, first.line, request, response);
    }
    const isInitial = requestBody.messages.some(({ incoming }) => isInitialize(incoming));
    const session =
      isInitial && !requestBody.isBatch && request.headers['mcp-session-id'] === undefined
        ? await this.sessions.open(scope)
        : this.#sessionOf(scope, request);
    if (!(session instanceof HttpSession)) return { ...session, id: idOf(first?.incoming) };
    return session.post(requestBody, response);
  }

  async #postMcp2026(
    scope: Scope,
    incoming: Incoming,
    line: string | Buffer,
    { headers }: IncomingMessage,
    response: ServerResponse,
  ): Promise<Refusal | undefined> {
    if (incoming.kind !== 'request') {
      // notifications have no meaning here: a client cancels a request by closing its response
      response.writeHead(202, { 'Content-Length': 0 }).end();
      return undefined;
    }
    const refusal = headerRefusal(incoming, headers);
    if (refusal !== undefined) return refusal;
    await serveStateless({ ...this.#options, scope, request: incoming, headers, line, response });
    return undefined;
  }

  #get(scope: Scope, request: IncomingMessage, response: ServerResponse): Refusal | undefined {
    const refusal = acceptRefusal(request, EVENTS_TYPE);
    if (refusal !== undefined) return refusal;
    const session = this.#sessionOf(scope, request);
    if (!(session instanceof HttpSession)) return session;
    const last = request.headers['last-event-id'];
    return session.listen(response, Array.isArray(last) ? last[0] : last);
  }

  #delete(scope: Scope, request: IncomingMessage, response: ServerResponse): Refusal | undefined {
    const session = this.#sessionOf(scope, request);
    if (!(session instanceof HttpSession)) return session;
    this.sessions.close(session.id);
    response.writeHead(204).end();
    return undefined;
  }

  #sessionOf(scope: Scope, { headers }: IncomingMessage): HttpSession | Refusal {
    const version = headers['mcp-protocol-version'];
    if (version !== undefined && !PROTOCOL_VERSIONS.some((known) => known === version)) {
      const fix = `send one of ${PROTOCOL_VERSIONS.join(', ')}`;
      return {
        status: 400,
        message: `MCP-Protocol-Version ${JSON.stringify(version)} is not spoken here`,
        fix,
      };
    }
    const id = headers['mcp-session-id'];
    if (typeof id !== 'string') {
      const fix = 'begin with initialize, and send the Mcp-Session-Id of its response with every request';
      return { status: 400, message: 'Bad request: the header Mcp-Session-Id is missing', fix };
    }
    const session = this.sessions.find(id, scope);
    if (session !== undefined) return session;
    return {
      status: 404,
      code: MCP_CODE.sessionNotFound,
      message: 'Session not found',
      fix: 'begin a new one with initialize',
    };
  }
}

function isInitialize(incoming: Incoming): boolean {
  return incoming.kind === 'request' && incoming.method === 'initialize';
}

function idOf(incoming: Incoming | undefined): string | undefined {
  return incoming?.kind === 'request' ? incoming.id : undefined;
}
