import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { replaceFile } from '../shared/files/replace-file.js';
import { startTimeOf } from './process-identity.js';
import type { LedgerHeader, LedgerLine } from './read-ledger.js';
import type { ProcessTable } from './table.js';

/** How many lines about dead processes the file may have before it is written anew. */
const MOST_DEAD_LINES = 500;

/**
 * A file that keeps the process table when the daemon and its watchdog are killed. One line of JSON for each event: first
 * the header, then processes that came, and pids that went. Written synchronously without fsync: it has to survive the
 * process, not the machine.
 *
 * A full disk stops nothing: the next change tries again and writes the whole file anew.
 */
export class Ledger {
  readonly #path: string;
  readonly #table: ProcessTable;
  readonly #log: (text: string) => void;
  readonly #stopObserving: () => void;
  #file: number | undefined;
  #deadLines = 0;
  #failing = false;

  /** Replaces the old ledger: clean up by that first. */
  constructor(path: string, table: ProcessTable, log: (text: string) => void) {
    this.#path = path;
    this.#table = table;
    this.#log = log;
    this.#rewrite();
    this.#stopObserving = table.observe({
      added: (owned) => this.#append({ came: owned }),
      removed: ({ pid }) => {
        this.#deadLines += 2;
        this.#append({ went: pid });
      },
    });
  }

  /** The end of an orderly run: an empty table leaves no file. */
  close(): void {
    this.#stopObserving();
    this.#closeFile();
    if (this.#table.size === 0) rmSync(this.#path, { force: true });
  }

  #append(line: LedgerLine): void {
    if (this.#file === undefined || this.#deadLines > MOST_DEAD_LINES) {
      this.#rewrite();
      return;
    }
    const text = `${JSON.stringify(line)}\n`;
    try {
      if (writeSync(this.#file, text) < Buffer.byteLength(text)) throw new Error('half a line was written');
    } catch (error) {
      // the file may end in half a line now: the next change writes it anew
      this.#closeFile();
      this.#failed(error);
    }
  }

  #rewrite(): void {
    const { daemonId } = this.#table;
    const header: LedgerHeader = {
      ledger: 1,
      daemonId,
      pid: process.pid,
      startTime: startTimeOf(process.pid),
    };
    const lines: LedgerLine[] = [header, ...this.#table.list().map((owned) => ({ came: owned }))];
    this.#closeFile();
    try {
      replaceFile(this.#path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      this.#file = openSync(this.#path, 'a', 0o600);
      this.#deadLines = 0;
      this.#failing = false;
    } catch (error) {
      this.#failed(error);
    }
  }

  #closeFile(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #failed(error: unknown): void {
    // once for each series of failures, not for each process
    if (!this.#failing)
      this.#log(`the ledger cannot be written: ${error instanceof Error ? error.message : error}`);
    this.#failing = true;
  }
}
