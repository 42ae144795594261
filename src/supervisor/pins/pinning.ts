import type { ServerSpec, Settings } from '../../config/fields/spec.js';
import { ToolherdError } from '../../shared/errors.js';
import type { JsonObject } from '../../shared/json.js';
import { shellWord } from '../../shared/text/shell-word.js';
import {
  type Block,
  cannotBePinned,
  notAsPinned,
  notCompared,
  pinsUnreadable,
  pinsUnwritable,
} from './blocked.js';
import { type Comparison, compare, MOST_TOOLS } from './compare.js';
import { pinIdentity } from './fingerprint.js';
import type { PinStore } from './pin-files.js';
import type { PinRecord } from './record.js';

export type PinPolicy = Settings['security']['pin'];

export interface PinKeeping {
  store: PinStore;
  /** Looked at with each list: it may change while the herd runs. */
  policy(): PinPolicy;
  /** Takes out what must not be kept of what a server said. */
  redact<T>(spec: ServerSpec, value: T): T;
  /** The package that a server runs, where it is known: `name@1.2.3`. */
  packageOf?(spec: ServerSpec): string | undefined;
}

/**
 * Where a list comes from. `read`: from the server, just now. `known`: it was read before, and the pins or the policy
 * have changed. `cached`: an earlier daemon read it; to compare it writes and logs nothing.
 */
export type ListSource = 'read' | 'known' | 'cached';

/** The result of comparing a list of tools with its pins. */
export interface PinCheck {
  /** Why a tool may not be called. Absent where every one may. */
  blockOf?: (tool: string) => Block | undefined;
  /** Tools that differ from their pins, without those that were reported before. */
  unreported: readonly string[];
  /** How many tools differ from their pins. */
  unaccepted: number;
}

interface Found extends Comparison {
  /** Why the pins cannot be read, and why they cannot be written. */
  unreadable?: string | undefined;
  unwritable?: string | undefined;
}

const ALL_WELL: PinCheck = { unreported: [], unaccepted: 0 };

/** The pins of one configured server. Every list of its tools is compared when it is known, so that a call costs nothing. */
export class Pinning {
  readonly identity: string;
  readonly #spec: ServerSpec;
  readonly #keeping: PinKeeping;
  readonly #now: () => number;
  readonly #log: (text: string) => void;
  /** The differing definitions, from the last comparison. Another herd may have changed the file since. */
  #waiting: PinRecord = new Map();
  #loggedProblem: string | undefined;

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

  /** `tools`: undefined when they could not be read. */
  checkPins(tools: readonly JsonObject[] | undefined, source: ListSource): PinCheck {
    const { policy } = this;
    if (policy === 'off') return ALL_WELL;
    const isStrict = policy === 'enforce';
    if (tools === undefined) return isStrict ? blockingAll(notCompared(this.#spec)) : ALL_WELL;
    const found = this.#compare(tools, isStrict, source);
    const { waiting, beyond } = found;
    const unreported = source === 'cached' ? [] : this.#report(found, isStrict);
    const check = { unreported, unaccepted: waiting.size };
    if (!isStrict || waiting.size + beyond.size === 0) return check;
    return { ...check, blockOf: (tool) => this.#blockOf(found, tool) };
  }

  /** Reads the record on disk, and puts this server's present definitions over it: another process may have others. */
  readPins(): { record: PinRecord; problem: string | undefined } {
    const { record, problem } = this.#keeping.store.load(this.identity);
    const kept = new Map(record);
    for (const [tool, { offered }] of this.#waiting) {
      const pinned = kept.get(tool)?.pinned;
      if (offered && pinned?.hash !== offered.hash) kept.set(tool, { ...(pinned && { pinned }), offered });
    }
    return { record: kept, problem };
  }

  /** Pins what is offered now; `hashes`: only these. Returns what was accepted. */
  accept(hashes?: ReadonlySet<string>): { tool: string; hash: string }[] {
    const { record } = this.readPins();
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
   * With `enforce`, pins that cannot be read are left as they are, and every tool waits to be accepted: to treat them as no
   * pins would let everything pass. What cannot be written is not pinned.
   */
  #compare(tools: readonly JsonObject[], isStrict: boolean, source: ListSource): Found {
    const { record, problem: unreadable } = this.#keeping.store.load(this.identity);
    const isLost = unreadable !== undefined && isStrict;
    const redact = (tool: JsonObject) => this.#keeping.redact(this.#spec, tool);
    const sighting = { package: this.#keeping.packageOf?.(this.#spec), at: this.#at, redact };
    const common = { tools, isStrict, isFresh: source === 'read', ...sighting };
    const compared = compare({ ...common, record: isLost ? this.#unpinned : record });
    if (!compared.isDirty || isLost || source === 'cached') return { ...compared, unreadable };
    const unwritable = this.#keeping.store.save(this.identity, this.#spec.name, compared.record);
    if (unwritable === undefined || !isStrict) return { ...compared, unreadable, unwritable };
    return { ...compare({ ...common, record: record ?? this.#unpinned }), unwritable };
  }

  /** Definitions that were seen while the pins could not be read. They keep the time at which they were first seen. */
  get #unpinned(): PinRecord {
    return new Map([...this.#waiting].filter(([, { pinned }]) => pinned === undefined));
  }

  #hashOf(tool: string): string | undefined {
    return this.#waiting.get(tool)?.offered?.hash;
  }

  #blockOf({ waiting, beyond, unreadable, unwritable }: Found, tool: string): Block | undefined {
    const { name } = this.#spec;
    const pin = waiting.get(tool);
    if (beyond.has(tool)) return cannotBePinned(MOST_TOOLS);
    if (pin === undefined) return undefined;
    if (unreadable !== undefined) return pinsUnreadable(name, unreadable);
    const isUnkept = unwritable !== undefined && pin.pinned === undefined;
    return isUnkept ? pinsUnwritable(unwritable) : notAsPinned(name, pin);
  }

  /** Logs the differences that were not logged before. Returns those tools that wait to be accepted. */
  #report(found: Found, isStrict: boolean): string[] {
    const isNew = (name: string) => found.waiting.get(name)?.offered?.hash !== this.#hashOf(name);
    const changed = found.changed.filter(isNew);
    const added = isStrict ? found.added.filter(isNew) : found.added;
    this.#waiting = found.waiting;
    this.#logDifferences({ ...found, changed, added }, isStrict);
    return [...changed, ...(isStrict ? added : [])];
  }

  #logDifferences({ changed, added, unreadable, unwritable }: Found, isStrict: boolean): void {
    const { name } = this.#spec;
    const problem = unwritable ?? unreadable;
    if (problem !== undefined && problem !== this.#loggedProblem)
      this.#log(problemText(name, problem, isStrict, unwritable === undefined));
    this.#loggedProblem = problem;
    if (changed.length > 0)
      this.#log(changedText(name, changed, isStrict, this.#keeping.packageOf?.(this.#spec)));
    if (added.length > 0 && problem === undefined) this.#log(addedText(name, added, isStrict));
  }
}

function blockingAll(block: Block): PinCheck {
  return { unreported: [], unaccepted: 0, blockOf: () => block };
}

const MOST_NAMED = 5;
const LONGEST_NAME = 80;

/** Names of tools are a server's own words: a few of them, and not all of a long one. */
function named(tools: readonly string[]): string {
  const names = tools
    .slice(0, MOST_NAMED)
    .map((name) => (name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name));
  const more = tools.length > MOST_NAMED ? ` and ${tools.length - MOST_NAMED} more` : '';
  return `${names.join(', ')}${more}`;
}

function changedText(
  server: string,
  tools: readonly string[],
  isStrict: boolean,
  source: string | undefined,
): string {
  const follows = isStrict ? 'they are blocked; ' : '';
  const by = source === undefined ? '' : ` (${source} offers them so)`;
  return `these tools are not what was pinned: ${named(tools)}${by}; ${follows}see "toolherd pins ${shellWord(server)}"`;
}

function addedText(server: string, tools: readonly string[], isStrict: boolean): string {
  const follows = isStrict
    ? `they are blocked; see "toolherd pins ${shellWord(server)}"`
    : 'they are pinned now';
  return `these tools were not there when the others were pinned: ${named(tools)}; ${follows}`;
}

/** `isThere`: there are pins, and they cannot be read; else they cannot be written. */
function problemText(server: string, problem: string, isStrict: boolean, isThere: boolean): string {
  if (isStrict) return `its tools are blocked: ${problem}; see "toolherd pins ${shellWord(server)}"`;
  const follows = isThere ? 'it is set aside, and what is offered now is pinned' : 'nothing new is pinned';
  return `its pins have a problem: ${problem}; ${follows}`;
}
