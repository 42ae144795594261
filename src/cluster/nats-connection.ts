import {
  connect,
  errors,
  type Msg,
  type NatsConnection as Nats,
  type SubscriptionOptions,
} from '@nats-io/transport-node';
import type { ClusterSpec } from '../config/fields/spec.js';
import { sleep, withTimeout } from '../shared/async.js';
import type { Clock } from '../shared/clock.js';
import { codeOf, messageOf } from '../shared/errors.js';
import { natsOptions } from './nats-options.js';
import type { Message } from './streams.js';

export interface NatsEvents {
  /** The first connection is there, or one after a loss. `client`: the same until the library gives up. */
  up(client: Nats): void;
  /** There is no connection. It is tried again. */
  down(why: string): void;
  /** The user of this node may not do what a node does. */
  denied(why: string): void;
  /** Of this program. */
  fault(text: string): void;
}

const RETRY_MS = 1000;
const CLOSE_MS = 500;
const NO_RESPONDERS = 503;

/** A connection to one of the NATS servers, opened again for as long as it takes. */
export class NatsConnection {
  readonly #spec: ClusterSpec;
  readonly #clock: Clock;
  readonly #on: NatsEvents;
  #client: Nats | undefined;
  #isUp = false;
  #isClosed = false;

  constructor(spec: ClusterSpec, clock: Clock, on: NatsEvents) {
    this.#spec = spec;
    this.#clock = clock;
    this.#on = on;
    void this.#keep();
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  get maxPayload(): number {
    return this.#client?.info?.max_payload ?? 2 ** 20;
  }

  /** Does nothing without a connection: the library would send it after the next one is there. */
  publish(subject: string, data: Uint8Array, reply?: string): void {
    if (!this.#isUp || this.#client === undefined || this.#client.isClosed()) return;
    try {
      this.#client.publish(subject, data, reply === undefined ? {} : { reply });
    } catch (error) {
      // too large for another server of this cluster of NATS: the stream notices the gap
      this.#on.fault(messageOf(error));
    }
  }

  /** Resolves when the NATS server has everything that was published, and every subscription. */
  async flush(): Promise<void> {
    await this.#client?.flush();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#isUp = false;
    const client = this.#client;
    if (client === undefined || client.isClosed()) return;
    // what was published before is sent, if the server takes it
    await withTimeout(
      CLOSE_MS,
      client.flush().catch(() => undefined),
      this.#clock,
    );
    await client.close().catch(() => undefined);
  }

  async #keep(): Promise<void> {
    while (!this.#isClosed) {
      try {
        const client = await connect(natsOptions(this.#spec));
        this.#client = client;
        if (this.#isClosed) await client.close();
        else await this.#follow(client);
      } catch (error) {
        this.#down(error);
      }
      if (!this.#isClosed) await sleep(this.#clock, RETRY_MS);
    }
  }

  /** Until the library gives it up. */
  async #follow(client: Nats): Promise<void> {
    const statuses = client.status();
    this.#up(client);
    for await (const status of statuses) {
      if (status.type === 'disconnect') this.#down(undefined);
      else if (status.type === 'reconnect') this.#up(client);
      else if (status.type === 'error' && status.error instanceof errors.PermissionViolationError)
        this.#on.denied(deniedBy(status.error));
      else if (status.type === 'error' && !this.#isUp) this.#on.down(this.#reason(status.error));
    }
    this.#down(await client.closed());
  }

  #up(client: Nats): void {
    if (this.#isClosed || this.#isUp) return;
    this.#isUp = true;
    this.#on.up(client);
  }

  #down(error: unknown): void {
    this.#isUp = false;
    if (!this.#isClosed) this.#on.down(this.#reason(error));
  }

  #reason(error: unknown): string {
    const where = this.#spec.servers.join(', ');
    if (error === undefined || error === null) return `the connection to the NATS server is lost (${where})`;
    if (error instanceof errors.AuthorizationError || error instanceof errors.UserAuthenticationExpiredError)
      return `the NATS server does not accept this node (${messageOf(error)}): check 'credentials' of 'cluster' in the config`;
    const cause = causeOf(error);
    const file = unreadFile(cause);
    if (file !== undefined) {
      const { credentials } = this.#spec;
      const isOfCredentials = credentials !== undefined && 'file' in credentials && credentials.file === file;
      const field = isOfCredentials ? 'credentials' : 'tls';
      return `a file cannot be read (${codeOf(cause)}): ${file}: check '${field}' of 'cluster' in the config`;
    }
    return `no NATS server answers at ${where}: ${messageOf(cause)}`;
  }
}

/** A listener for messages. The library would stop reading after one that throws. */
export function listener(take: (message: Msg) => void, fault: (text: string) => void): SubscriptionOptions {
  return {
    callback: (error, message) => {
      if (error !== null) return;
      try {
        take(message);
      } catch (thrown) {
        fault(String(thrown));
      }
    },
  };
}

/** Of a message, what this program uses. */
export function readMessage(message: Msg): Message {
  const { subject, reply = '', data, headers } = message;
  return { subject, reply, data, hasNoReceiver: data.length === 0 && headers?.code === NO_RESPONDERS };
}

function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? error.cause : error;
}

/** The path of a file that could not be read. */
function unreadFile(error: unknown): string | undefined {
  const isOfFile = error instanceof Error && 'path' in error && typeof error.path === 'string';
  return isOfFile ? (error.path as string) : undefined;
}

function deniedBy({ operation, subject }: { operation: string; subject: string }): string {
  const doing = operation === 'subscription' ? 'subscribe to' : 'publish to';
  return `the user of this node in NATS may not ${doing} ${JSON.stringify(subject)}: give it the permissions of docs/SECURITY.md`;
}
