import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** How many full files are kept beside the one being written. */
const KEPT = 3;
const NEWLINE = 0x0a;
const LAST = Buffer.alloc(1);

/**
 * A log file that never grows beyond its cap: when it is full it becomes `.1`, the one before that `.2`, and so on.
 * Writing is synchronous and one line at a time: a log that is lost in a crash is the one that was needed. A disk that
 * is full loses lines, never a call.
 */
export class RotatingFile {
  readonly #path: string;
  readonly #maxBytes: number;
  #file: number | undefined;
  #bytes = 0;
  /** The last line is not whole: the disk took only a part of it. */
  #torn = false;

  constructor(path: string, maxBytes: number) {
    this.#path = path;
    this.#maxBytes = maxBytes;
  }

  /** Answers with how many bytes at its end are not there now: a disk that gets full takes a part of it, or nothing. */
  write(line: string): number {
    try {
      this.#file ??= this.#open();
      // a line that is longer than a whole file has one to itself
      const length = Buffer.byteLength(line);
      if (this.#bytes > 0 && this.#bytes + Number(this.#torn) + length > this.#maxBytes) {
        this.#file = this.#rotate();
      }
      // what is lost is one line, and not the next one too
      const bytes = length + Number(this.#torn);
      const taken = writeSync(this.#file, this.#torn ? `\n${line}` : line);
      this.#torn = taken < bytes;
      this.#bytes += taken;
      return bytes - taken;
    } catch (error) {
      // There is nowhere left to say it. On a full disk the next line would open the file in vain, thousands a second.
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') this.close();
      return Buffer.byteLength(line);
    }
  }

  /** Somebody else may have written to it, moved it or taken it away: the next line goes to what is there now. */
  look(): void {
    if (this.#file === undefined) return;
    try {
      const [own, there] = [fstatSync(this.#file), statSync(this.#path)];
      if (own.ino === there.ino && own.dev === there.dev) this.#bytes = there.size;
      else this.close();
    } catch {
      this.close();
    }
  }

  close(): void {
    const file = this.#file;
    this.#file = undefined;
    try {
      if (file !== undefined) closeSync(file);
    } catch {
      // what the disk did not take is lost
    }
  }

  #open(): number {
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    const file = openSync(this.#path, 'a+', 0o600);
    this.#bytes = fstatSync(file).size;
    // also by whoever wrote to it before
    this.#torn = this.#bytes > 0 && readSync(file, LAST, 0, 1, this.#bytes - 1) === 1 && LAST[0] !== NEWLINE;
    return file;
  }

  #rotate(): number {
    this.close();
    for (let age = KEPT - 1; age >= 1; age--) move(`${this.#path}.${age}`, `${this.#path}.${age + 1}`);
    move(this.#path, `${this.#path}.1`);
    return this.#open();
  }
}

function move(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch {
    // not there yet
  }
}
