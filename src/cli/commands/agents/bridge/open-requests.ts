import { type Incoming, readLine } from '../../../../ipc/jsonrpc/message.js';
import { headOf } from '../../../../shared/framing/message-head.js';

const SUBSCRIBE = 'resources/subscribe';
const UNSUBSCRIBE = 'resources/unsubscribe';

type Request = Incoming & { kind: 'request' };

/** Requests that are repeated for the next daemon. */
const REMEMBERED: readonly string[] = ['initialize', 'logging/setLevel', SUBSCRIBE];
/** A request that stays open as long as the client likes: the next daemon gets it unchanged. */
const LISTEN = 'subscriptions/listen';

/** The open requests of both sides, and the requests to repeat for the next daemon. Ids are JSON text. */
export class OpenRequests {
  /** Requests of the client without a reply, by id. */
  readonly asked = new Map<string, Request>();
  /** Requests of the daemon that the client has not answered. */
  readonly questions = new Set<string>();
  /** In the order of the client. */
  readonly remembered = new Map<string, Request>();
  isInitialized = false;

  /** Requests that the next daemon takes over. */
  get standing(): Request[] {
    return [...this.asked.values()].filter(({ method }) => method === LISTEN);
  }

  /** Resources whose changes the client has subscribed to. */
  get subscribed(): string[] {
    const subscriptions = [...this.remembered.values()].filter(({ method }) => method === SUBSCRIBE);
    return subscriptions.map(uriOf).filter((uri) => uri !== undefined);
  }

  /** The daemon has ended, and will not answer its open requests. */
  lost(): void {
    const standing = this.standing;
    for (const request of this.asked.values()) this.#forget(request);
    this.asked.clear();
    this.questions.clear();
    for (const request of standing) this.asked.set(request.id, request);
  }

  /** A line to the daemon. */
  sent(line: Buffer): void {
    const read = readLine(line);
    for (const message of Array.isArray(read) ? read : [read]) this.#sent(message);
  }

  /** A line from the daemon. */
  came(line: Buffer): void {
    const head = headOf(line);
    if (head?.kind === 'request') this.questions.add(head.id);
    else if (head !== undefined) this.#answered(head.id, head.kind);
    else if (line[0] === 0x5b) this.#cameBatch(line);
  }

  #answered(id: string, kind: 'reply' | 'failure'): void {
    const request = this.asked.get(id);
    this.asked.delete(id);
    if (kind === 'failure' && request !== undefined) this.#forget(request);
  }

  /** A subscription that failed is not repeated for the next daemon. */
  #forget(request: Request): void {
    if (request.method === SUBSCRIBE) this.remembered.delete(keyOf(request));
  }

  #sent(message: Incoming): void {
    switch (message.kind) {
      case 'request':
        this.asked.set(message.id, message);
        if (REMEMBERED.includes(message.method)) this.remembered.set(keyOf(message), message);
        if (message.method === UNSUBSCRIBE) this.remembered.delete(keyOf({ ...message, method: SUBSCRIBE }));
        break;
      case 'notification':
        if (message.method === 'notifications/initialized') this.isInitialized = true;
        break;
      case 'cancel':
        // in MCP a cancelled request gets no reply
        if (!message.wantsReply) this.asked.delete(message.target);
        break;
      case 'reply':
      case 'failure':
        this.questions.delete(message.id);
    }
  }

  #cameBatch(line: Buffer): void {
    const read = readLine(line);
    for (const message of Array.isArray(read) ? read : [read]) {
      if (message.kind === 'reply' || message.kind === 'failure') this.#answered(message.id, message.kind);
    }
  }
}

/** The last request of a method counts; of subscriptions, of each resource. */
function keyOf(request: Request): string {
  return request.method === SUBSCRIBE ? `${SUBSCRIBE} ${uriOf(request)}` : request.method;
}

function uriOf({ params }: Request): string | undefined {
  const { uri } = (params ?? {}) as { uri?: unknown };
  return typeof uri === 'string' ? uri : undefined;
}
