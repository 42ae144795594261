import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** How many full files are kept beside the one being written. */
const KEPT = 3;

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

  constructor(path: string, maxBytes: number) {
    this.#path = path;
    this.#maxBytes = maxBytes;
  }

  write(line: string): void {
    try {
      const bytes = Buffer.byteLength(line);
      this.#file ??= this.#open();
      // a line that is longer than a whole file has one to itself
      if (this.#bytes > 0 && this.#bytes + bytes > this.#maxBytes) this.#file = this.#rotate();
      writeSync(this.#file, line);
      this.#bytes += bytes;
    } catch {
      // there is nowhere left to say it
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
    const file = openSync(this.#path, 'a', 0o600);
    this.#bytes = fstatSync(file).size;
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
