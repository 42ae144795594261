import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const HOST = '127.0.0.1';
const PATH = '/callback';

export interface CallbackOptions {
  /** The secret that the right answer contains. */
  state: string;
  /** 0 = any. */
  port: number;
  /** Called once, with the right answer. The browser shows whether it succeeded. */
  arrived(params: URLSearchParams): Promise<void>;
}

/**
 * The address that the browser is redirected to: a listener on this machine alone, for one authorisation. An answer with
 * another state is refused and changes nothing, so that no page can end an authorisation by guessing.
 */
export class Callback {
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://${HOST}:${(server.address() as AddressInfo).port}${PATH}`;
  }

  /** Rejects when the port is taken. */
  static async listen({ state, port, arrived }: CallbackOptions): Promise<Callback> {
    let isOver = false;
    const server = createServer((request, response) => {
      const params = paramsOf(request);
      if (params === undefined) answer(response, 404, PAGES.unknown);
      else if (isOver || !isSame(params.get('state') ?? '', state)) answer(response, 400, PAGES.wrong);
      else {
        isOver = true;
        arrived(params).then(
          () => answer(response, 200, PAGES.granted),
          () => answer(response, 400, PAGES.failed),
        );
      }
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, HOST, resolve);
    });
    server.unref();
    return new Callback(server);
  }

  /** Accepts no more answers; a response on its way is finished. */
  close(): void {
    this.#server.close();
    this.#server.closeIdleConnections();
  }
}

function paramsOf({ method, url = '', headers, socket }: IncomingMessage): URLSearchParams | undefined {
  if (method !== 'GET' || headers.host !== `${HOST}:${socket.localPort}`) return undefined;
  if (url !== PATH && !url.startsWith(`${PATH}?`)) return undefined;
  return new URLSearchParams(url.slice(PATH.length));
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function answer(response: ServerResponse, status: number, html: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    connection: 'close',
  });
  response.end(html);
}

function page(title: string, text: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>${text}</p></html>\n`;
}

/** What the browser shows at the end. None of it comes from the request. */
const PAGES = {
  granted: page('Authorised', 'toolherd may use the server now. You can close this page.'),
  failed: page('Not authorised', 'The terminal, or <code>toolherd auth</code>, tells why.'),
  wrong: page('Not accepted', 'This answer does not belong to an authorisation that toolherd waits for.'),
  unknown: page('Not found', 'There is nothing here.'),
} as const;
