import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { onTestFinished } from 'vitest';

/** Where HTTP is spoken: on a Unix socket, or on a port. */
export type Address = { socketPath: string } | { host: string; port: number };

export interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  text: string;
  json(): Json;
}

// biome-ignore lint/suspicious/noExplicitAny: what a test looks into
export type Json = any;

export interface Asked {
  method?: string;
  headers?: OutgoingHttpHeaders;
  body?: string | Buffer;
}

export const BOTH = 'application/json, text/event-stream';

/** One request, as curl would send it, and all of its answer. */
export async function ask(address: Address, path: string, asked: Asked = {}): Promise<Answer> {
  const response = await begin(address, path, asked);
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  const { statusCode: status = 0, headers } = response;
  return { status, headers, text, json: () => JSON.parse(lastMessage(text)) };
}

/** A reply that took more than a second is the last event of a stream. */
function lastMessage(text: string): string {
  if (!/^(?:id|data|:)/.test(text)) return text;
  return [...text.matchAll(/^data: (.+)$/gm)].at(-1)?.[1] ?? '';
}

/** The same, as soon as the headers of the answer are there. */
export function begin(
  address: Address,
  path: string,
  { method = 'GET', headers, body }: Asked = {},
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request({ ...address, path, method, headers: { ...headers }, agent: false }, resolve);
    sent.on('error', reject);
    onTestFinished(() => void sent.destroy());
    sent.end(body);
  });
}

export interface Event {
  id?: string;
  data: string;
}

/** The events of a stream, as they come. */
export class Events {
  readonly all: Event[] = [];
  readonly ended: Promise<void>;
  readonly response: IncomingMessage;
  #partial = '';

  constructor(response: IncomingMessage) {
    this.response = response;
    response.setEncoding('utf8').on('data', (text: string) => {
      const blocks = (this.#partial + text).split('\n\n');
      this.#partial = blocks.pop() ?? '';
      for (const block of blocks) {
        const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1];
        const [id, data] = [field('id'), field('data')];
        if (data !== undefined) this.all.push({ ...(id !== undefined && { id }), data });
      }
    });
    this.ended = new Promise((resolve) => response.on('close', () => resolve()));
    response.on('error', () => undefined);
  }

  /** What the messages among them say. */
  get messages(): Json[] {
    return this.all.filter(({ data }) => data !== '').map(({ data }) => JSON.parse(data));
  }
}

/** A client of streamable HTTP that knows the headers and nothing else. */
export class HttpClient {
  readonly address: Address;
  readonly path: string;
  readonly own: OutgoingHttpHeaders;
  session: string | undefined;
  #next = 1;

  constructor(address: Address, path = '/mcp', own: OutgoingHttpHeaders = {}) {
    this.address = address;
    this.path = path;
    this.own = own;
  }

  get headers(): OutgoingHttpHeaders {
    return { ...this.own, ...(this.session && { 'Mcp-Session-Id': this.session }) };
  }

  posting(body: Json, headers: OutgoingHttpHeaders = {}): Asked {
    const own = { Accept: BOTH, 'Content-Type': 'application/json', ...this.headers, ...headers };
    return { method: 'POST', headers: own, body: typeof body === 'string' ? body : JSON.stringify(body) };
  }

  post(body: Json, headers?: OutgoingHttpHeaders): Promise<Answer> {
    return ask(this.address, this.path, this.posting(body, headers));
  }

  async initialize(protocolVersion = '2025-11-25', capabilities = {}): Promise<Answer> {
    const params = { protocolVersion, capabilities, clientInfo: { name: 'test', version: '1' } };
    const answer = await this.post({ jsonrpc: '2.0', id: 'hello', method: 'initialize', params });
    this.session = answer.headers['mcp-session-id'] as string | undefined;
    if (this.session !== undefined) await this.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return answer;
  }

  /** The reply to one request, however it comes. */
  async request(method: string, params?: Json, id: Json = this.#next++): Promise<Json> {
    return (await this.post({ jsonrpc: '2.0', id, method, params })).json();
  }

  /** The stream of one request. */
  async stream(method: string, params: Json, id: Json = this.#next++): Promise<Events> {
    return new Events(
      await begin(this.address, this.path, this.posting({ jsonrpc: '2.0', id, method, params })),
    );
  }

  async listen(lastEventId?: string): Promise<Events> {
    const headers = { Accept: 'text/event-stream', ...this.headers };
    const last = lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId };
    return new Events(await begin(this.address, this.path, { headers: { ...headers, ...last } }));
  }

  end(): Promise<Answer> {
    return ask(this.address, this.path, { method: 'DELETE', headers: this.headers });
  }
}
