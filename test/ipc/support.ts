import { mkdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { LocalFleet } from '../../src/fleet/fleet.js';
import { FleetServer, type FleetServerOptions } from '../../src/ipc/server/fleet-server.js';
import { claimSocket, type SocketProblem } from '../../src/ipc/socket/socket-owner.js';
import type { Clock } from '../../src/shared/clock.js';
import { makeFolder } from '../support/folder.js';

/** A clock that advances only by `advance`. */
export class FakeClock implements Clock {
  #now = 1000;
  #next = 1;
  readonly #timers = new Map<unknown, { at: number; fire: () => void }>();

  now(): number {
    return this.#now;
  }

  get pending(): number {
    return this.#timers.size;
  }

  setTimeout(fire: () => void, ms: number): unknown {
    const timer = this.#next++;
    this.#timers.set(timer, { at: this.#now + ms, fire });
    return timer;
  }

  clearTimeout(timer: unknown): void {
    this.#timers.delete(timer);
  }

  advance(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      const due = [...this.#timers].sort(([, a], [, b]) => a.at - b.at)[0];
      if (due === undefined || due[1].at > until) break;
      this.#timers.delete(due[0]);
      this.#now = due[1].at;
      due[1].fire();
    }
    this.#now = until;
  }
}

/** A promise that is settled from outside. */
export function later<T = void>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** A folder with mode 0700 for a socket, and the socket's path in it. */
export function socketPlace(): string {
  const folder = join(makeFolder(), 'run');
  mkdirSync(folder, { mode: 0o700 });
  return join(folder, 'toolherd.sock');
}

/** A herd on a real socket; gone when the test ends. */
export async function serve(fleet: LocalFleet, options: FleetServerOptions = {}) {
  const path = socketPlace();
  const troubles: SocketProblem[] = [];
  const server = new FleetServer(fleet, options);
  const claim = await claimSocket(path);
  const owner = await claim.listen({
    onConnection: (socket) => server.accept(socket),
    onProblem: (problem) => troubles.push(problem),
  });
  onTestFinished(async () => {
    owner.close();
    await server.close(0);
  });
  return { path, server, owner, troubles };
}

export type Json = { [key: string]: unknown };

/** A client that knows nothing but bytes and lines. */
export class RawClient {
  readonly socket: Socket;
  readonly lines: string[] = [];
  readonly closed: Promise<void>;
  #partial = '';
  #waiting: (() => void)[] = [];

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => {
      const parts = (this.#partial + text).split('\n');
      this.#partial = parts.pop() ?? '';
      this.lines.push(...parts);
      this.#wake();
    });
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        resolve();
        this.#wake();
      });
    });
  }

  static async open(path: string, { allowHalfOpen = false } = {}): Promise<RawClient> {
    const socket = connect({ path, allowHalfOpen });
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    onTestFinished(() => void socket.destroy());
    return new RawClient(socket);
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  write(bytes: string | Buffer): Promise<void> {
    return new Promise((resolve) => this.socket.write(bytes, () => resolve()));
  }

  send(message: unknown): void {
    this.socket.write(`${JSON.stringify(message)}\n`);
  }

  ask(id: unknown, method: string, params?: unknown): void {
    this.send({ jsonrpc: '2.0', id, method, params });
  }

  /** Lines that have come, when there are so many. */
  async take(count: number): Promise<string[]> {
    while (this.lines.length < count) {
      if (this.socket.destroyed) throw new Error(`closed after ${this.lines.length} of ${count} lines`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    return this.lines.splice(0, count);
  }

  async next(): Promise<Json> {
    const [line = ''] = await this.take(1);
    return JSON.parse(line) as Json;
  }

  /** What one request is answered with; for clients that have nothing else on their way. */
  async answer(method: string, params?: unknown): Promise<Json> {
    this.ask('answer', method, params);
    return this.next();
  }
}
