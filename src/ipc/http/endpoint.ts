import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../shared/clock.js';
import type { Incoming } from '../jsonrpc/message.js';
import { PROTOCOL_VERSIONS } from '../mcp/server-info.js';
import type { FleetServer } from '../server/socket-server.js';
import { isMcp2026, refusalOf } from './mcp-2026.js';
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
import { Sessions } from './sessions.js';
import { serveStateless } from './stateless.js';

export interface EndpointOptions {
  server: Pick<FleetServer, 'accept'>;
  clock: Clock;
}

const JSON_TYPE = 'application/json';
const EVENTS_TYPE = 'text/event-stream';

/** Streamable HTTP, in both eras: until 2025-11-25 with sessions, since 2026-07-28 without. */
export class Endpoint {
  readonly #options: EndpointOptions;
  readonly sessions: Sessions;

  constructor(options: EndpointOptions) {
    this.#options = options;
    this.sessions = new Sessions(options);
  }

  async handle(place: Scope, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal = await this.#handle(place, request, response);
    if (refusal !== undefined) refuse(response, refusal);
  }

  async #handle(
    place: Scope,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<Refusal | undefined> {
    switch (request.method) {
      case 'POST':
        return this.#post(place, request, response);
      case 'GET':
        return this.#get(place, request, response);
      case 'DELETE':
        return this.#delete(place, request, response);
      default: {
        const headers = { Allow: 'GET, POST, DELETE' };
        return { status: 405, message: `${request.method} has no meaning here`, headers };
      }
    }
  }

  async #post(
    place: Scope,
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
      return this.#postModern(place, first.incoming, first.line, request, response);
    }
    const isFirst = requestBody.messages.some(({ incoming }) => isInitialize(incoming));
    const session =
      isFirst && !requestBody.isBatch && request.headers['mcp-session-id'] === undefined
        ? await this.sessions.open(place)
        : this.#sessionOf(place, request);
    if (!(session instanceof HttpSession)) return { ...session, id: idOf(first?.incoming) };
    return session.post(requestBody, response);
  }

  async #postModern(
    place: Scope,
    incoming: Incoming,
    line: string | Buffer,
    { headers }: IncomingMessage,
    response: ServerResponse,
  ): Promise<Refusal | undefined> {
    if (incoming.kind !== 'request') {
      // there is nothing that a notification could be about: a request is cancelled by closing its response
      response.writeHead(202, { 'Content-Length': 0 }).end();
      return undefined;
    }
    const refusal = refusalOf(incoming, headers);
    if (refusal !== undefined) return refusal;
    await serveStateless({ ...this.#options, place, request: incoming, headers, line, response });
    return undefined;
  }

  #get(place: Scope, request: IncomingMessage, response: ServerResponse): Refusal | undefined {
    const refusal = acceptRefusal(request, EVENTS_TYPE);
    if (refusal !== undefined) return refusal;
    const session = this.#sessionOf(place, request);
    if (!(session instanceof HttpSession)) return session;
    const last = request.headers['last-event-id'];
    return session.listen(response, Array.isArray(last) ? last[0] : last);
  }

  #delete(place: Scope, request: IncomingMessage, response: ServerResponse): Refusal | undefined {
    const session = this.#sessionOf(place, request);
    if (!(session instanceof HttpSession)) return session;
    this.sessions.close(session.id);
    response.writeHead(204).end();
    return undefined;
  }

  #sessionOf(place: Scope, { headers }: IncomingMessage): HttpSession | Refusal {
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
    const session = this.sessions.find(id, place);
    if (session !== undefined) return session;
    return {
      status: 404,
      code: -32_001,
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
