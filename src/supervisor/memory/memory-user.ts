import type { ServerSpec } from '../../config/schema/spec.js';
import type { Link } from '../../link/link.js';

/** A process group that eats memory. */
export interface MemoryUser {
  /** The leader of its group; empty when there is none (any more). */
  readonly pids: readonly number[];
  /** What its server may use; 0 = as much as it likes. */
  readonly maxRss: number;
  /** It uses more than that. Told once. */
  over(bytes: number): void;
  /** Absent where nothing is gained by stopping it: a spare would be replaced at once. */
  readonly evictable?: Evictable | undefined;
}

/** One that could be started again when it is needed. */
export interface Evictable {
  readonly isEager: boolean;
  /** It goes already, whatever for. */
  isLeaving(): boolean;
  /** How long nobody has needed it; 0 while somebody does. */
  idleForMs(): number;
  /** Makes room, unless somebody needs it after all; whether it goes. */
  rest(why: string): boolean;
}

/** An incarnation as the budget sees it; undefined `guest`: it does not make room for others. */
export function memoryUserOf(
  spec: ServerSpec,
  link: Link,
  over: MemoryUser['over'],
  evictable?: Evictable,
): MemoryUser {
  return {
    get pids() {
      return link.pids;
    },
    maxRss: spec.transport === 'stdio' ? spec.maxRss : 0,
    over,
    evictable,
  };
}
