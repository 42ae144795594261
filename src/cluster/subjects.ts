import { randomBytes } from 'node:crypto';

/** Where one daemon is reached. A daemon that starts again is another instance. */
export interface NodeAddress {
  node: string;
  instance: string;
}

const RANDOM_BYTES = 12;

/** A part of a subject that no other daemon can guess. */
export function randomToken(): string {
  return randomBytes(RANDOM_BYTES).toString('base64url');
}

/**
 * The subjects of a cluster. All that a daemon listens to begins with its name, and what opens a connection ends with the
 * name of the node that asks: so an account of NATS can be limited to one node (docs/CLUSTER.md has the permissions).
 */
export class Subjects {
  readonly #prefix: string;

  /** `cluster`: its name. */
  constructor(cluster: string) {
    this.#prefix = `toolherd.${cluster}.`;
  }

  /** With a dot at its end. */
  of({ node, instance }: NodeAddress): string {
    return `${this.#prefix}${node}.${instance}.`;
  }

  stream(to: NodeAddress, id: string): string {
    return `${this.of(to)}s.${id}`;
  }

  open(to: NodeAddress, from: string): string {
    return `${this.of(to)}open.${from}`;
  }

  /** Where a node may want an answer. Any other subject is not written to for it. */
  isForAnswers(subject: string): boolean {
    if (!subject.startsWith(this.#prefix)) return false;
    const [, , kind, token, more] = subject.slice(this.#prefix.length).split('.');
    return (kind === 's' || kind === 'pong') && token !== undefined && more === undefined;
  }

  ping(to: NodeAddress): string {
    return `${this.of(to)}ping`;
  }

  /** Where the answer to a ping arrives. */
  pong(self: NodeAddress, of: string): string {
    return `${this.of(self)}pong.${of}`;
  }
}

/** The bucket with the nodes of a cluster. */
export function bucketOf(cluster: string): string {
  return `toolherd-${cluster}`;
}
