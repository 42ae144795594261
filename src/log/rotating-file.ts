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
import { isCode } from '../shared/errors.js';

/** How many full files are kept besides the current one. */
const KEPT = 3;
const NEWLINE = 0x0a;
const LAST = Buffer.alloc(1);

/** Where the lines of a file are, the newest first. */
export function rotatedPaths(path: string): string[] {
  return [path, ...Array.from({ length: KEPT }, (_, age) => `${path}.${age + 1}`)];
}

/**
 * A log file with a size limit: when it is full it becomes `.1`, the one before `.2`, and so on. Writing is synchronous,
 * one line at a time: the lines right before a crash are the ones that are needed. A full disk loses lines, never a call.
 */
export class RotatingFile {
  readonly #path: string;
  readonly #maxBytes: number;
  #file: number | undefined;
  #bytes = 0;
  /** The last line is incomplete: the disk took only a part of it. */
  #torn = false;

  constructor(path: string, maxBytes: number) {
    this.#path = path;
    this.#maxBytes = maxBytes;
  }

  /** Returns how many bytes at its end were not written: a disk that becomes full takes a part, or nothing. */
  write(line: string): number {
    try {
      this.#file ??= this.#open();
      // a line over the limit is alone in its file
      const length = Buffer.byteLength(line);
      if (this.#bytes > 0 && this.#bytes + Number(this.#torn) + length > this.#maxBytes) {
        this.#file = this.#rotate();
      }
      // a newline ends the torn line, so that the next line is not lost with it
      const bytes = length + Number(this.#torn);
      const taken = writeSync(this.#file, this.#torn ? `\n${line}` : line);
      this.#torn = taken < bytes;
      this.#bytes += taken;
      return bytes - taken;
    } catch (error) {
      // There is nowhere left to report it. On a full disk the file stays open: reopening it for each line helps nothing.
      if (!isCode(error, 'ENOSPC')) this.close();
      return Buffer.byteLength(line);
    }
  }

  /** Another process may have written to the file, moved or deleted it: the next line goes to the file there now. */
  check(): void {
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
      // unwritten bytes are lost
    }
  }

  #open(): number {
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    const file = openSync(this.#path, 'a+', 0o600);
    this.#bytes = fstatSync(file).size;
    // another process may have left a torn line
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
