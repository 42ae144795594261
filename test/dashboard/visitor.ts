import { onTestFinished } from 'vitest';
import { type ClientOptions, WebSocket } from 'ws';
import { ask, type Json } from '../ipc/http/support.js';
import { until } from '../support/until.js';

/** What a browser has after it opened a link. */
export interface Visitor {
  /** The address of the port. */
  base: string;
  /** The path of the page, which ends with a slash. */
  path: string;
  /** `name=secret`. */
  cookie: string;
}

/** Opens a link as a browser does. */
export async function visitLink(url: string): Promise<Visitor> {
  const { origin, hostname, port, pathname, search } = new URL(url);
  const { status, headers } = await ask({ host: hostname, port: Number(port) }, pathname + search);
  if (status !== 303) throw new Error(`the link was refused with ${status}`);
  const [cookie = ''] = String(headers['set-cookie']).split(';');
  return { base: origin, path: String(headers.location), cookie };
}

/** Resolves with the status where the upgrade was refused. */
export function openSocket(
  url: string,
  headers: Record<string, string>,
  options: ClientOptions = {},
): Promise<PageClient | number> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace(/^http/, 'ws'), { ...options, headers });
    onTestFinished(() => socket.terminate());
    const client = new PageClient(socket);
    socket.on('open', () => resolve(client));
    socket.on('error', reject);
    socket.on('unexpected-response', (_request, { statusCode = 0 }) => resolve(statusCode));
  });
}

export async function connectPage({ base, path, cookie }: Visitor): Promise<PageClient> {
  const client = await openSocket(`${base}${path}socket`, { Cookie: cookie, Origin: base });
  if (typeof client === 'number') throw new Error(`the upgrade was refused with ${client}`);
  return client;
}

/** A page in a browser, as far as its messages go. */
export class PageClient {
  readonly socket: WebSocket;
  readonly messages: Json[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  #ids = 0;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data) => void this.messages.push(JSON.parse(String(data))));
    this.closed = new Promise((resolve) => {
      socket.on('close', (code, reason) => resolve({ code, reason: String(reason) }));
    });
  }

  /** The whole reply. */
  async request(method: string, params: object = {}): Promise<Json> {
    this.#ids += 1;
    const id = this.#ids;
    this.socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    return until(() => this.messages.find((message) => message.id === id));
  }

  /** The params of the notifications of a method. */
  notified(method: string): Json[] {
    return this.messages.filter((message) => message.method === method).map(({ params }) => params);
  }
}
