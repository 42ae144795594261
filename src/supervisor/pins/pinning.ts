import type { ServerSpec, Settings } from '../../config/spec.js';
import { ToolherdError } from '../../errors.js';
import type { JsonObject } from '../../link/session/message.js';
import {
  type Block,
  cannotBePinned,
  notAsPinned,
  notCompared,
  pinsUnreadable,
  pinsUnwritable,
} from './blocked.js';
import { type Comparison, compare, MOST_TOOLS } from './compare.js';
import { pinIdentity } from './identity.js';
import type { PinStore } from './pin-files.js';
import type { PinRecord } from './record.js';
import { addedText, changedText, problemText } from './words.js';

export type PinPolicy = Settings['security']['pin'];

export interface PinKeeping {
  store: PinStore;
  /** Looked at with each list: it may change while the herd runs. */
  policy(): PinPolicy;
  /** Takes out what must not be kept of what a server said. */
  redact<T>(spec: ServerSpec, value: T): T;
}

/** What became of a list of tools when it was compared. */
export interface Verdict {
  /** Why a tool may not be called. Absent where every one may. */
  blockOf?: (tool: string) => Block | undefined;
  /** Tools that are not what was pinned, those that were told of before left out. */
  news: readonly string[];
  /** How many are not what was pinned. */
  unaccepted: number;
}

interface Found extends Comparison {
  /** What is wrong with what is kept, and with keeping it. */
  unreadable?: string | undefined;
  unwritable?: string | undefined;
}

const ALL_WELL: Verdict = { news: [], unaccepted: 0 };

/** The pins of one configured server. Every list of its tools is compared when it is known, so that a call costs nothing. */
export class Pinning {
  readonly identity: string;
  readonly #spec: ServerSpec;
  readonly #keeping: PinKeeping;
  readonly #now: () => number;
  readonly #log: (text: string) => void;
  /** As of the last comparison. On the disk there is the same, where that can be written and read. */
  #record: PinRecord = new Map();
  #toldProblem: string | undefined;

  constructor(spec: ServerSpec, keeping: PinKeeping, now: () => number, log: (text: string) => void) {
    this.identity = pinIdentity(spec);
    this.#spec = spec;
    this.#keeping = keeping;
    this.#now = now;
    this.#log = log;
  }

  get policy(): PinPolicy {
    return this.#keeping.policy();
  }

  /** Undefined: they could not be read. */
  vet(tools: readonly JsonObject[] | undefined): Verdict {
    const { policy } = this;
    if (policy === 'off') return ALL_WELL;
    const isStrict = policy === 'enforce';
    if (tools === undefined) return isStrict ? blockingAll(notCompared(this.#spec)) : ALL_WELL;
    const found = this.#compare(tools, isStrict);
    this.#record = found.record;
    this.#tell(found, isStrict);
    const waiting = [...found.record.values()].filter(({ offered }) => offered !== undefined);
    const news = [...found.changed, ...(isStrict ? found.added : [])];
    const verdict = { news, unaccepted: waiting.length };
    if (!isStrict || waiting.length + found.beyond.size === 0) return verdict;
    return { ...verdict, blockOf: (tool) => this.#blockOf(found, tool) };
  }

  /** What is kept, or where that cannot be read what was seen. */
  get kept(): { record: PinRecord; problem: string | undefined } {
    const { record, problem } = this.#keeping.store.load(this.identity);
    return { record: record ?? this.#record, problem };
  }

  /** From now on what is offered is what is relied on; `hashes`: nothing but these. Answers with what was accepted. */
  accept(hashes?: ReadonlySet<string>): { tool: string; hash: string }[] {
    const { record } = this.kept;
    const accepted: { tool: string; hash: string }[] = [];
    const next = new Map(record);
    for (const [tool, { offered }] of record) {
      if (offered === undefined || hashes?.has(offered.hash) === false) continue;
      next.set(tool, { pinned: { ...offered, at: this.#at } });
      accepted.push({ tool, hash: offered.hash });
    }
    if (accepted.length === 0) return [];
    const problem = this.#keeping.store.save(this.identity, this.#spec.name, next);
    if (problem === undefined) return accepted;
    const fix = 'see that the file and its folder are yours and the disk has room';
    throw new ToolherdError(`${this.#spec.name}: nothing was accepted`, { why: problem, fix });
  }

  get #at(): string {
    return new Date(this.#now()).toISOString();
  }

  /**
   * What cannot be read is not taken for nothing where that would let everything pass: with `enforce` it stays as it is,
   * and what is offered waits to be accepted. What cannot be written down is not pinned.
   */
  #compare(tools: readonly JsonObject[], isStrict: boolean): Found {
    const { record, problem: unreadable } = this.#keeping.store.load(this.identity);
    const isLost = unreadable !== undefined && isStrict;
    const redact = (tool: JsonObject) => this.#keeping.redact(this.#spec, tool);
    const common = { tools, isStrict, at: this.#at, redact };
    const found = compare({ ...common, record: isLost ? this.#waitingFor(tools) : record });
    if (!found.isDirty || isLost) return { ...found, unreadable };
    const unwritable = this.#keeping.store.save(this.identity, this.#spec.name, found.record);
    if (unwritable === undefined || !isStrict) return { ...found, unreadable, unwritable };
    return { ...compare({ ...common, record: record ?? this.#waitingFor(tools) }), unwritable };
  }

  /** What was seen of them and not accepted: so that it is told once. */
  #waitingFor(tools: readonly JsonObject[]): PinRecord {
    const names = new Set(tools.map(({ name }) => name));
    const waiting = [...this.#record].filter(([name, pin]) => names.has(name) && pin.pinned === undefined);
    return new Map(waiting);
  }

  #blockOf({ record, beyond, unreadable, unwritable }: Found, tool: string): Block | undefined {
    const { name } = this.#spec;
    const pin = record.get(tool);
    if (beyond.has(tool)) return cannotBePinned(MOST_TOOLS);
    if (pin?.offered === undefined) return undefined;
    if (unreadable !== undefined) return pinsUnreadable(name, unreadable);
    const isUnkept = unwritable !== undefined && pin.pinned === undefined;
    return isUnkept ? pinsUnwritable(unwritable) : notAsPinned(name, pin);
  }

  #tell({ changed, added, unreadable, unwritable }: Found, isStrict: boolean): void {
    const { name } = this.#spec;
    const problem = unwritable ?? unreadable;
    if (problem !== undefined && problem !== this.#toldProblem)
      this.#log(problemText(name, problem, isStrict, unwritable === undefined));
    this.#toldProblem = problem;
    if (changed.length > 0) this.#log(changedText(name, changed, isStrict));
    if (added.length > 0 && problem === undefined) this.#log(addedText(name, added, isStrict));
  }
}

function blockingAll(block: Block): Verdict {
  return { news: [], unaccepted: 0, blockOf: () => block };
}
