import { RotatingFile } from './rotating-file.js';

export interface AuditOptions {
  path: string;
  maxBytes: number;
  /** Reports that records are being lost, and when that ends. */
  warn(text: string): void;
}

/** A process that is killed loses the records of this time at most. */
const BATCH_MS = 80;
/** The most that a batch may hold, in characters; a batch is never larger than a file may be. */
const MOST_WAITING = 65_536;

/**
 * The file with one line for each call. Lines are written in batches, so that a call does not wait for the disk, and
 * flushed when the process ends. Several processes may share the file. Where it cannot be written, records are lost and
 * counted; no call waits for it or fails because of it.
 */
export class AuditFile {
  readonly #options: AuditOptions;
  readonly #file: RotatingFile;
  readonly #mostWaiting: number;
  #waiting: string[] = [];
  #waitingLength = 0;
  #timer: NodeJS.Timeout | undefined;
  #lost = 0;
  #isLosing = false;

  constructor(options: AuditOptions) {
    this.#options = options;
    this.#file = new RotatingFile(options.path, options.maxBytes);
    this.#mostWaiting = Math.min(MOST_WAITING, options.maxBytes);
  }

  get path(): string {
    return this.#options.path;
  }

  /** Records that could not be written. */
  get lost(): number {
    return this.#lost;
  }

  /** One record, without a newline in it. */
  add(record: string): void {
    if (this.#waitingLength + record.length >= this.#mostWaiting) this.flush();
    this.#waiting.push(record);
    this.#waitingLength += record.length + 1;
    // the timer keeps no process alive: the daemon flushes when it exits
    this.#timer ??= setTimeout(() => this.flush(), BATCH_MS).unref();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.length === 0) return;
    const text = `${this.#waiting.join('\n')}\n`;
    const count = this.#waiting.length;
    this.#waiting = [];
    this.#waitingLength = 0;
    this.#file.check();
    const missing = this.#file.write(text);
    this.#reportLoss(missing === 0 ? 0 : count - wholeLinesIn(text, missing));
  }

  close(): void {
    this.flush();
    this.#file.close();
  }

  #reportLoss(lost: number): void {
    this.#lost += lost;
    const { path, warn } = this.#options;
    if (lost > 0 && !this.#isLosing) {
      warn(
        `${path} cannot be written to: calls are not recorded. Check that its folder is writable and the disk is not full`,
      );
    }
    if (lost === 0 && this.#isLosing) {
      warn(`calls are recorded again in ${path}; ${this.#lost} were not since the start`);
    }
    this.#isLosing = lost > 0;
  }
}

/** How many lines are complete without this many bytes at the end. */
function wholeLinesIn(text: string, missing: number): number {
  const there = Buffer.from(text).toString('latin1').slice(0, -missing);
  return there.split('\n').length - 1;
}
