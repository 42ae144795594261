import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { type Herd, startHerd, until } from '../../support/herd.js';

export type Line = Record<string, unknown> & {
  id?: unknown;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: unknown };
};

/** A client of MCP that speaks by lines, and keeps every line it was sent. */
export class LineClient {
  readonly lines: Line[] = [];
  readonly #write: (text: string) => void;
  readonly close: () => void;
  /** Closes its writing side, and still reads. */
  readonly end: () => void;
  readonly closed: Promise<void>;

  constructor(path: string) {
    const socket = connect({ path, allowHalfOpen: true });
    createInterface({ input: socket }).on('line', (text) => this.lines.push(JSON.parse(text)));
    this.#write = (text) => void socket.write(text);
    this.close = () => void socket.destroy();
    this.end = () => void socket.end();
    this.closed = new Promise((resolve) => socket.once('end', () => resolve()));
    onTestFinished(this.close);
  }

  say(message: Record<string, unknown>): void {
    this.#write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  /** Asks and waits for the answer. */
  async ask(id: unknown, method: string, params?: Record<string, unknown>): Promise<Line> {
    const before = this.lines.length;
    this.say({ id, method, params });
    return until(() => this.lines.slice(before).find((line) => line.id === id && line.method === undefined));
  }

  async hello(capabilities = {}, protocolVersion = '2025-11-25'): Promise<Line> {
    const clientInfo = { name: 'lines', version: '1' };
    const reply = await this.ask('hello', 'initialize', { protocolVersion, capabilities, clientInfo });
    this.say({ method: 'notifications/initialized' });
    return reply;
  }

  heard(method: string): Line[] {
    return this.lines.filter((line) => line.method === method);
  }

  /** Whatever was on its way is here when this is. */
  async settle(): Promise<void> {
    await this.ask(`settle-${this.lines.length}`, 'ping');
  }
}

export async function startMcp(config: string): Promise<Herd & { client(): LineClient }> {
  const herd = await startHerd(config);
  return { ...herd, client: () => new LineClient(herd.home.socket) };
}

export const textOf = (line: Line): string => {
  const [block] = (line.result?.content ?? []) as { text?: string }[];
  return block?.text ?? '';
};

export const namesOf = (list: unknown): string[] =>
  ((list ?? []) as { name: string }[]).map(({ name }) => name);
