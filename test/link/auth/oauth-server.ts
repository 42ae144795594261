import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A protected MCP server and its authorization server, each with its own address, as strict as real ones. */
export interface Protected {
  url: string;
  /** The same over SSE. */
  sseUrl: string;
  issuer: string;
  /** The requests so far, e.g. `POST /token refresh_token`. */
  asked: string[];
  /** How often the authorization server was asked for this. */
  count(what: string): number;
  /** No access token that was given so far is good any more. */
  expire(): void;
  /** No refresh token either. */
  revoke(): void;
  /** Forms that came to the token endpoint. */
  forms: URLSearchParams[];
}

export interface OAuthBehaviour {
  /** The lifetime of an access token in seconds; the client gets it. */
  lifeS?: number;
  /** In every secret that is given away. */
  mark?: string;
  /** Scopes that `tools/call` needs beside `basic`. */
  callScope?: string;
  /** Clients are registered by hand only: id → secret. */
  clients?: Record<string, string>;
  /** Changes a redirect before it is sent. */
  redirect?(to: URL): void;
  metadata?: Record<string, unknown>;
  token?(request: IncomingMessage, response: ServerResponse): boolean;
}

interface Grant {
  scope: string;
  resource: string;
}

export async function startProtected(behaviour: OAuthBehaviour = {}): Promise<Protected> {
  const { lifeS = 3600, mark = 'tok', callScope = '', clients } = behaviour;
  const asked: string[] = [];
  const forms: URLSearchParams[] = [];
  const codes = new Map<string, Grant & { challenge: string; client: string; redirect: string }>();
  const refreshes = new Map<string, Grant>();
  const tokens = new Map<string, Grant>();
  const secrets = new Map(Object.entries(clients ?? {}));
  const fresh = (kind: string) => `${mark}-${kind}-${randomBytes(12).toString('hex')}`;

  const grant = (given: Grant) => {
    const access_token = fresh('access');
    const refresh_token = fresh('refresh');
    tokens.set(access_token, given);
    refreshes.set(refresh_token, given);
    return { access_token, refresh_token, token_type: 'Bearer', expires_in: lifeS };
  };

  const issuer = await listen(async (request, response) => {
    const url = new URL(request.url ?? '', issuer);
    asked.push(`${request.method} ${url.pathname}`);
    if (url.pathname === '/.well-known/oauth-authorization-server') {
      json(response, 200, {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        ...(clients === undefined ? { registration_endpoint: `${issuer}/register` } : {}),
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true,
        ...behaviour.metadata,
      });
    } else if (url.pathname === '/register') {
      const body = JSON.parse(await bodyOf(request));
      const client_id = fresh('id');
      const client_secret = fresh('secret');
      secrets.set(client_id, client_secret);
      json(response, 201, { ...body, client_id, client_secret });
    } else if (url.pathname === '/authorize') {
      const ask = (name: string) => url.searchParams.get(name) ?? '';
      const code = fresh('code');
      const to = new URL(ask('redirect_uri'));
      codes.set(code, {
        scope: ask('scope'),
        resource: ask('resource'),
        challenge: ask('code_challenge'),
        client: ask('client_id'),
        redirect: to.href,
      });
      for (const [name, value] of Object.entries({ code, state: ask('state'), iss: issuer }))
        to.searchParams.set(name, value);
      behaviour.redirect?.(to);
      response.writeHead(302, { location: to.href }).end();
    } else if (url.pathname === '/token') {
      if (behaviour.token?.(request, response)) return;
      const form = new URLSearchParams(await bodyOf(request));
      forms.push(form);
      asked.push(`grant ${form.get('grant_type')}`);
      const [id, secret] = Buffer.from(request.headers.authorization?.slice(6) ?? '', 'base64')
        .toString()
        .split(':');
      if (secrets.get(id ?? '') !== secret) return json(response, 401, { error: 'invalid_client' });
      const old = form.get('refresh_token') ?? '';
      const kept = refreshes.get(old);
      // a refresh token is good once: a second use means that it was stolen
      refreshes.delete(old);
      const code = codes.get(form.get('code') ?? '');
      codes.delete(form.get('code') ?? '');
      const proof = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url');
      const isProven = code?.challenge === proof && code.redirect === form.get('redirect_uri');
      const given = form.get('grant_type') === 'refresh_token' ? kept : isProven ? code : undefined;
      if (given === undefined || given.resource !== form.get('resource')) {
        return json(response, 400, { error: 'invalid_grant', error_description: `${mark} said too much` });
      }
      json(response, 200, grant(given));
    } else json(response, 404, {});
  });

  /** The older transport: every reply is sent on one stream. */
  let stream: ServerResponse | undefined;
  const server = await listen(async (request, response) => {
    const metadata = `${server}/.well-known/oauth-protected-resource/mcp`;
    if (request.url === '/.well-known/oauth-protected-resource/mcp') {
      return json(response, 200, { resource: `${server}/mcp`, authorization_servers: [issuer] });
    }
    if (request.url?.startsWith('/mcp') !== true) return json(response, 404, {});
    const body = await bodyOf(request);
    const refuse = (status: number, words: string) =>
      response
        .writeHead(status, { 'www-authenticate': `Bearer ${words}, resource_metadata="${metadata}"` })
        .end('no');
    const given = tokens.get(request.headers.authorization?.slice(7) ?? '');
    if (given === undefined) return refuse(401, 'scope="basic"');
    if (request.method === 'GET' && request.url !== '/mcp/sse') return json(response, 405, {});
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: endpoint\ndata: /mcp/messages\n\n');
      stream = response;
      return;
    }
    const { id, method, params } = JSON.parse(body);
    const reply = (message: Record<string, unknown>) => {
      const whole = { jsonrpc: '2.0', id, ...message };
      if (request.url !== '/mcp/messages') return json(response, 200, whole);
      response.writeHead(202).end();
      stream?.write(`event: message\ndata: ${JSON.stringify(whole)}\n\n`);
    };
    if (
      method === 'tools/call' &&
      !callScope.split(' ').every((one) => given.scope.split(' ').includes(one) || one === '')
    )
      return refuse(403, `error="insufficient_scope", scope="${callScope}"`);
    if (id === undefined) return response.writeHead(202).end();
    const results: Record<string, unknown> = {
      initialize: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'protected', version: '1' },
      },
      ping: {},
      'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [{ type: 'text', text: `hi ${params?.arguments?.value ?? ''}` }] },
    };
    if (results[method] === undefined) return reply({ error: { code: -32601, message: 'unknown method' } });
    reply({ result: results[method] });
  });

  return {
    url: `${server}/mcp`,
    sseUrl: `${server}/mcp/sse`,
    issuer,
    asked,
    forms,
    count: (what) => asked.filter((line) => line === what).length,
    expire: () => tokens.clear(),
    revoke: () => {
      tokens.clear();
      refreshes.clear();
    },
  };
}

/** What a browser does when the person agrees: opens the address and follows its redirects. */
export async function approve(authorizationUrl: string): Promise<Response> {
  const response = await fetch(authorizationUrl, { redirect: 'manual' });
  return fetch(response.headers.get('location') ?? '');
}

/** A server that ends with the test; its origin. */
export async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
}

function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}
