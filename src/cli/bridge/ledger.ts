import { type Incoming, readLine } from '../../ipc/message.js';
import { headOf } from './reply-head.js';

/** What the client said that the next daemon has to hear again. */
const REMEMBERED: readonly string[] = ['initialize', 'logging/setLevel'];

/** What of a conversation is open, and what must be said again when it begins anew. Ids are kept as their JSON text. */
export class Ledger {
  /** Requests of the client without a reply, by id. */
  readonly asked = new Map<string, Incoming & { kind: 'request' }>();
  /** Requests of the daemon that the client has not answered. */
  readonly questions = new Set<string>();
  readonly remembered = new Map<string, unknown>();
  isInitialized = false;

  /** A line that goes to the daemon. */
  sent(line: Buffer): void {
    const read = readLine(line);
    for (const message of Array.isArray(read) ? read : [read]) this.#sent(message);
  }

  /** A line that came from the daemon. */
  came(line: Buffer): void {
    const head = headOf(line);
    if (head?.kind === 'reply') this.asked.delete(head.id);
    else if (head?.kind === 'request') this.questions.add(head.id);
    else if (line[0] === 0x5b) this.#cameBatch(line);
  }

  #sent(message: Incoming): void {
    switch (message.kind) {
      case 'request':
        this.asked.set(message.id, message);
        if (REMEMBERED.includes(message.method)) this.remembered.set(message.method, message.params);
        break;
      case 'notification':
        if (message.method === 'notifications/initialized') this.isInitialized = true;
        break;
      case 'cancel':
        // MCP's are not answered
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
      if (message.kind === 'reply' || message.kind === 'failure') this.asked.delete(message.id);
    }
  }
}
