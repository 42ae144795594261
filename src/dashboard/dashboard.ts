import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { dirname } from 'node:path';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { UiLink } from '../fleet/orders.js';
import type { InstallContext } from '../install/context.js';
import { guardNames } from '../ipc/http/guard.js';
import type { PageRequests } from '../ipc/http/page-requests.js';
import type { Refusal } from '../ipc/http/refusal.js';
import { Params } from '../ipc/jsonrpc/params.js';
import { MAX_LINE_BYTES } from '../ipc/jsonrpc/peer.js';
import { type ErrorObject, toErrorObject } from '../ipc/jsonrpc/rpc-error.js';
import type { FleetServer } from '../ipc/server/fleet-server.js';
import { withTimeout } from '../shared/async.js';
import type { Clock } from '../shared/clock.js';
import { CODE } from '../shared/mcp/rpc-codes.js';
import { UsageError } from '../shared/report/usage-error.js';
import { Access } from './access.js';
import { userOf } from './client-user.js';
import { PageConnection } from './page-connection.js';
import { encodingOf, PageFiles } from './page-files.js';
import { PAGE_METHODS, type PageHerd, type PageMethod } from './page-methods.js';
import { refusePage, SECURITY_HEADERS, sendPage } from './responses.js';

export interface DashboardOptions {
  server: Pick<FleetServer, 'accept'>;
  clock: Clock;
  /** What the build made of src/page. */
  folder: string;
  herd: PageHerd;
  /** The uid of a client; undefined where it cannot be known. */
  userOf?: (socket: Socket) => number | undefined;
  /** Makes an error that the server passes on: its class is that of the daemon's bundle, not of this one. */
  toError(error: ErrorObject): Error;
  /** Called when no page was open for an hour. */
  onIdle(): void;
}

/** How long a page may be closed before the daemon stops serving it. */
export const IDLE_MS = 3_600_000;
/** A page that reads slower than the herd has events loses some of them, and is told how many. */
const MOST_EVENT_BYTES = 2 ** 20;
/** How long a page has to close its connection. */
const GRACE_MS = 500;
/** For requests to the registry. */
const REGISTRY_MS = 30_000;
const OPEN = /^\/ui\/open\?key=([\w-]+)$/;
/** The path is compared as it was sent, so it needs no decoding and leads to no other folder. */
const PAGE = /^\/ui\/([\w-]+)\/([\w.-]*)$/;
const SOCKET = 'socket';

/** The page of the herd: gives out links, serves the files of the page, and connects the page to the herd. */
export class Dashboard implements PageRequests {
  readonly #options: DashboardOptions;
  readonly #access: Access;
  readonly #files: PageFiles;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_LINE_BYTES,
    perMessageDeflate: false,
  });
  /** Fires when no page was open for an hour. */
  #idle: unknown;
  #isClosed = false;

  constructor(options: DashboardOptions) {
    this.#options = options;
    this.#access = new Access(options.clock);
    this.#files = new PageFiles(options.folder);
    this.#waitForPage();
  }

  /** How many pages are open. */
  get pages(): number {
    return this.#sockets.clients.size;
  }

  /** `base`: the address of the port. */
  link(base: string): UiLink {
    const { key, expiresAt } = this.#access.issue();
    this.#waitForPage();
    return { url: `${base}/ui/open?key=${key}`, expires_at: expiresAt };
  }

  handle(request: IncomingMessage, response: ServerResponse, names: readonly string[]): void {
    const refusal = this.#refusal(request, names) ?? this.#serve(request, response);
    if (refusal !== undefined) refusePage(response, refusal);
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, names: readonly string[]): void {
    const refusal = this.#refusal(request, names) ?? this.#socketRefusal(request);
    if (refusal === undefined) {
      this.#sockets.handleUpgrade(request, socket, head, (page) => this.#connect(page, socket));
      return;
    }
    const response = new ServerResponse(request);
    response.assignSocket(socket as Socket);
    response.on('finish', () => socket.end());
    refusePage(response, refusal);
  }

  /** Tells every page that the daemon ends, and waits for them a moment. */
  async close(): Promise<void> {
    const { clock } = this.#options;
    this.#isClosed = true;
    clock.clearTimeout(this.#idle);
    const closed = [...this.#sockets.clients].map((page) => {
      page.close(1001, 'the daemon ends');
      return new Promise((resolve) => page.once('close', resolve));
    });
    if (closed.length > 0) await withTimeout(GRACE_MS, Promise.all(closed), clock);
    for (const page of this.#sockets.clients) page.terminate();
  }

  #refusal(request: IncomingMessage, names: readonly string[]): Refusal | undefined {
    const refusal = guardNames(names)(request);
    if (refusal !== undefined) return refusal;
    if (isOfAnotherSite(request) && !OPEN.test(request.url ?? ''))
      return { status: 403, message: 'another web page asked for it' };
    if (request.method === 'GET') return undefined;
    return { status: 405, message: 'this can only be read', headers: { Allow: 'GET' } };
  }

  #serve(request: IncomingMessage, response: ServerResponse): Refusal | undefined {
    const { url = '', headers } = request;
    const key = OPEN.exec(url)?.[1];
    if (key !== undefined) return this.#open(key, request, response);
    const [, id = '', name = ''] = PAGE.exec(url) ?? [];
    if (!this.#isAllowed(id, request)) return NO_PAGE;
    const file = name || 'index.html';
    const found = this.#files.find(file);
    if (found === undefined) return { status: 404, message: 'the page has no such file' };
    const encoding = encodingOf(found, String(headers['accept-encoding'] ?? ''));
    void this.#files.read((encoding && found.encodings.get(encoding)) ?? file).then(
      (bytes) => sendPage(response, { type: found.type, encoding, bytes }),
      () => refusePage(response, { status: 500, message: 'a file of the page cannot be read' }),
    );
    return undefined;
  }

  #open(key: string, request: IncomingMessage, response: ServerResponse): Refusal | undefined {
    if (request.headers['sec-purpose'] !== undefined)
      return { status: 403, message: 'a link is not prefetched' };
    // before the link is used up
    if (this.#isOfAnotherUser(request)) return { status: 403, message: 'this page is for another user' };
    const page = this.#access.open(key);
    if (page === undefined) return USED_LINK;
    const path = `/ui/${page.id}/`;
    // after a click on a web page the browser would leave the cookie out of a redirect; after a refresh it does not
    const isClicked = isOfAnotherSite(request);
    response.writeHead(isClicked ? 200 : 303, {
      ...SECURITY_HEADERS,
      ...(isClicked ? { Refresh: `0; url=${path}` } : { Location: path }),
      'Set-Cookie': `${cookieName(request)}=${page.secret}; HttpOnly; SameSite=Strict; Path=${path}`,
      'Content-Length': 0,
    });
    response.end();
    return undefined;
  }

  /** Other users see the link in the list of processes, while the browser is started with it. */
  #isOfAnotherUser({ socket }: IncomingMessage): boolean {
    const uid = (this.#options.userOf ?? userOf)(socket);
    // a relay of the system, for example that of WSL, runs as root, which needs no link
    return uid !== undefined && uid !== 0 && uid !== process.getuid?.();
  }

  #socketRefusal(request: IncomingMessage): Refusal | undefined {
    const [, id = '', name] = PAGE.exec(request.url ?? '') ?? [];
    if (request.headers.origin === undefined) return { status: 403, message: 'the header Origin is missing' };
    if (!this.#isAllowed(id, request)) return NO_PAGE;
    return name === SOCKET ? undefined : { status: 404, message: 'there is no WebSocket at this path' };
  }

  #isAllowed(id: string, request: IncomingMessage): boolean {
    const name = cookieName(request);
    const cookies = (request.headers.cookie ?? '').split(';').map((cookie) => cookie.trim().split('='));
    return cookies.some(([key, secret = '']) => key === name && this.#access.isAllowed(id, secret));
  }

  #connect(page: WebSocket, carrier: Duplex): void {
    const { server, clock } = this.#options;
    clock.clearTimeout(this.#idle);
    const connection = new PageConnection(page, carrier, clock);
    const peer = server.accept(connection.stream, {
      via: 'page',
      agentFiles: 'allowed',
      mostEventBytes: MOST_EVENT_BYTES,
    });
    connection.follow(peer);
    for (const [name, method] of Object.entries(PAGE_METHODS)) {
      peer.handle(name, (params) => this.#answer(method, new Params(params)));
    }
    page.on('close', () => this.#waitForPage());
  }

  async #answer(method: PageMethod, params: Params): Promise<unknown> {
    const { herd, toError } = this.#options;
    const notes: string[] = [];
    try {
      const answer = await method({ herd, context: contextOf(herd, notes), params });
      return notes.length === 0 ? answer : { ...(answer as object), notes };
    } catch (error) {
      const known = toErrorObject(error) ?? usageError(error);
      throw known === undefined ? error : toError(known);
    }
  }

  /** From now on an hour, if no page is open. */
  #waitForPage(): void {
    const { clock, onIdle } = this.#options;
    clock.clearTimeout(this.#idle);
    if (this.pages === 0 && !this.#isClosed) this.#idle = clock.setTimeout(onIdle, IDLE_MS);
  }
}

const ASK = 'run "toolherd ui" for a new link';
const NO_PAGE: Refusal = {
  status: 403,
  message: 'this page belongs to no browser that opened a link',
  fix: ASK,
};
const USED_LINK: Refusal = {
  status: 403,
  message: 'this link was opened before, or is older than a minute',
  fix: ASK,
};

/** As a command would have it that runs where the config is. */
function contextOf({ file, paths, environment, userHome }: PageHerd, notes: string[]): InstallContext {
  return {
    globals: { config: file, agent: undefined, timeout: REGISTRY_MS },
    ...{ paths, environment, userHome },
    cwd: dirname(file),
    output: { note: (text) => void notes.push(text) },
  };
}

function usageError(error: unknown): ErrorObject | undefined {
  if (!(error instanceof UsageError)) return undefined;
  const { type, message, fix } = error;
  return { code: CODE.invalidParams, message, data: { type, message, fix, retryable: false, sent: false } };
}

/** As browsers say it. Programs do not, and have no cookie of another site. */
function isOfAnotherSite({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  return site === 'cross-site' || site === 'same-site';
}

/** Browsers send cookies of 127.0.0.1 to every port: the name keeps those of two daemons apart. */
function cookieName({ headers: { host = '' } }: IncomingMessage): string {
  return `toolherd-${host.slice(host.lastIndexOf(':') + 1)}`;
}
