import type { StartPurpose } from '../../machines/permit.js';
import { chooseNode } from './candidate.js';
import { type Node, OwnNode } from './node.js';

/**
 * Which node is asked for the lists of a server: this one if it can tell them, else another one that can, connected ones
 * first. Where the server runs here no node is asked that cannot take calls: it might ask this one, and both would wait.
 */
export class AskedNodes {
  readonly #nodes: () => readonly Node[];
  /** The node that was asked last. */
  #asked: Node | undefined;
  /** Nodes that were asked and could not tell. */
  readonly #failed = new Set<Node>();

  constructor(nodes: () => readonly Node[]) {
    this.#nodes = nodes;
  }

  /** False where no node is left that could tell. */
  ask(purpose?: StartPurpose): boolean {
    // several requests wait for one connection
    const isComing = this.#asked !== undefined && this.#asked.runner?.isReady !== true;
    let node = isComing ? this.#asked : this.#next();
    for (; node !== undefined; node = this.#next()) {
      this.#asked = node;
      if (node.connected().discover(purpose)) return true;
      this.#failed.add(node);
    }
    this.told();
    return false;
  }

  /** The lists were read, or no request wants them. */
  told(): void {
    this.#asked = undefined;
    this.#failed.clear();
  }

  /** This node will not tell. */
  failed(node: Node): void {
    // one that has left is asked no more
    if (this.#nodes().includes(node)) this.#failed.add(node);
    if (this.#asked === node) this.#asked = undefined;
  }

  #next(): Node | undefined {
    const left = this.#nodes().filter((node) => !this.#failed.has(node));
    const able = left.filter(({ readiness }) => readiness === 'ready' || readiness === 'starts');
    if (able[0] instanceof OwnNode) return able[0];
    const chosen = able.find(({ runner }) => runner?.isReady === true) ?? chooseNode(able, true);
    if (chosen !== undefined) return chosen;
    return (
      left.find((node) => node instanceof OwnNode) ?? (this.#runsHere ? undefined : chooseNode(left, true))
    );
  }

  get #runsHere(): boolean {
    return this.#nodes()[0] instanceof OwnNode;
  }
}
