import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type ClientOptions, WebSocket } from 'ws';
import { Page } from '../../src/daemon/page.js';
import { HttpServer } from '../../src/ipc/http/http-server.js';
import { FleetServer } from '../../src/ipc/server/fleet-server.js';
import { findPaths } from '../../src/shared/files/paths.js';
import { FakeFleet } from '../ipc/fake-fleet.js';
import { type Answer, ask, type Json } from '../ipc/http/support.js';
import { FakeClock } from '../ipc/support.js';
import { makeFolder } from '../support/folder.js';
import { until } from '../support/until.js';

export interface Visitor {
  /** The path of the page, which ends with a slash. */
  path: string;
  /** `name=secret`. */
  cookie: string;
}

/** The page of a herd in this process. Its time stands still. */
export async function servePage({ configured }: { configured?: string } = {}) {
  const folder = makeFolder();
  const files = join(folder, 'page');
  mkdirSync(files);
  writeFileSync(join(files, 'index.html'), '<!doctype html>');
  writeFileSync(join(files, 'app.js'), 'plain');
  writeFileSync(join(files, 'app.js.br'), 'as brotli');
  writeFileSync(join(files, 'app.js.gz'), 'as gzip');
  writeFileSync(join(files, 'notes.txt'), 'no file of the page');
  writeFileSync(join(folder, 'secret.html'), 'outside of the page');
  const clock = new FakeClock();
  const fleet = new FakeFleet();
  const logged: string[] = [];
  const server = new FleetServer(fleet);
  const httpServer = new HttpServer({
    ...{ server, clock },
    status: () => fleet.status(),
    page: () => page.requests,
  });
  const environment = { TOOLHERD_HOME: folder, HOME: folder };
  const page = new Page({
    ...{ server, httpServer, clock, folder: files },
    log: {
      info: (_fields, text) => void logged.push(text),
      error: (_fields, text) => void logged.push(text),
    },
    limitConnections: (accept) => accept,
    configured: () => configured,
    herd: {
      file: join(folder, 'config.yaml'),
      paths: findPaths(environment, folder),
      ...{ environment, userHome: folder, fleet },
      refusedFiles: () => refused,
    },
  });
  const refused: string[] = [];
  onTestFinished(async () => {
    let isClosed = false;
    void page.close().then(() => {
      isClosed = true;
    });
    await until(() => {
      clock.advance(1000);
      return isClosed;
    });
    const ended = httpServer.close();
    clock.advance(1000);
    await ended;
    await server.close(0);
  });
  const { url } = await page.link();
  const host = new URL(url).host;
  const address = { host: '127.0.0.1', port: Number(new URL(url).port) };
  const own = { Host: host };

  /** One request with the right Host, unless `headers` say otherwise. */
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> =>
    ask(address, path, { method, headers: { ...own, ...headers } });

  const link = async () => {
    const { url, expires_at } = await page.link();
    return { path: url.slice(url.indexOf('/ui/')), expires_at };
  };

  /** What a browser has after it opened a link. */
  const visit = async (): Promise<Visitor> => {
    const { headers } = await get((await link()).path);
    const [cookie = ''] = String(headers['set-cookie']).split(';');
    return { path: String(headers.location), cookie };
  };

  /** Opens the WebSocket of a page. Resolves with the status where the upgrade was refused. */
  const open = (path: string, headers: Record<string, string>, options: ClientOptions = {}) =>
    new Promise<PageClient | number>((resolve, reject) => {
      const socket = new WebSocket(`ws://${host}${path}`, { ...options, headers: { ...own, ...headers } });
      onTestFinished(() => socket.terminate());
      const client = new PageClient(socket);
      socket.on('open', () => resolve(client));
      socket.on('error', reject);
      socket.on('unexpected-response', (_request, { statusCode = 0 }) => resolve(statusCode));
    });

  const connect = async (visitor?: Visitor): Promise<PageClient> => {
    const { path, cookie } = visitor ?? (await visit());
    const client = await open(`${path}socket`, { Cookie: cookie, Origin: `http://${host}` });
    if (typeof client === 'number') throw new Error(`the upgrade was refused with ${client}`);
    return client;
  };

  return {
    ...{ folder, clock, fleet, server, page, logged, host, address, refused },
    get,
    link,
    visit,
    open,
    connect,
  };
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
