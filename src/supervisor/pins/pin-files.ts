import { readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../../shared/errors.js';
import { pruneFiles } from '../../shared/files/prune-files.js';
import { replaceFile } from '../../shared/files/replace-file.js';
import { type PinRecord, readRecord, writeRecord } from './record.js';

/** What is known of the pins of a server: nothing, a record, or that there is one which cannot be read. */
export interface Kept {
  record?: PinRecord;
  problem?: string;
}

/** Pins on disk, which outlive the daemon. */
export interface PinStore {
  load(identity: string): Kept;
  /** Answers with what went wrong. A record that cannot be read is set aside first. */
  save(identity: string, server: string, record: PinRecord): string | undefined;
  /** Marks these servers as configured, and deletes the files of servers that were not for a year. */
  prune(identities: readonly string[]): Promise<void>;
}

const FORGOTTEN_AFTER_MS = 365 * 24 * 60 * 60 * 1000;
/** More than we ever write. */
const MOST_BYTES = 32 * 2 ** 20;

/**
 * One file a server, 0600, and either the old text or the new one. It is read again for each list that is compared, so
 * that what another herd accepted (one inside a script has the same state folder) is not undone.
 */
export class PinFiles implements PinStore {
  readonly #folder: string;
  readonly #now: () => number;

  constructor(folder: string, now: () => number) {
    this.#folder = folder;
    this.#now = now;
  }

  load(identity: string): Kept {
    const file = this.#file(identity);
    try {
      if (statSync(file).size > MOST_BYTES) return { problem: `${file} is larger than any that was written` };
      return { record: readRecord(readFileSync(file, 'utf8')) };
    } catch (error) {
      const code = codeOf(error);
      if (code === 'ENOENT') return {};
      // what the parser says would quote the file
      return { problem: code === undefined ? `${file} makes no sense` : `${file} cannot be read (${code})` };
    }
  }

  save(identity: string, server: string, record: PinRecord): string | undefined {
    const file = this.#file(identity);
    try {
      const { record: before, problem } = this.load(identity);
      const isFirst = before === undefined && problem === undefined;
      replaceFile(file, writeRecord(server, record), {
        // A herd that starts for the first time writes one record a server, and a sync takes milliseconds. A crash of
        // the machine in that moment may leave an empty file, which is reported like any file that makes no sense.
        synced: isFirst ? 'soon' : 'before',
        beforeRename: () => {
          if (problem !== undefined) renameSync(file, `${file}.broken`);
        },
      });
      return undefined;
    } catch (error) {
      return `${file} cannot be written (${codeOf(error) ?? 'unknown error'})`;
    }
  }

  async prune(identities: readonly string[]): Promise<void> {
    const configured = new Set(identities.map((identity) => this.#file(identity)));
    await pruneFiles(this.#folder, configured, this.#now(), FORGOTTEN_AFTER_MS);
  }

  #file(identity: string): string {
    return join(this.#folder, `${identity}.json`);
  }
}
