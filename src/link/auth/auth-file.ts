import { readFileSync } from 'node:fs';
import { MCPError } from '../../shared/call-errors.js';
import { isObject } from '../../shared/json.js';
import { replaceFile } from '../../shared/replace-file.js';
import { soundRecord } from './check-record.js';
import type { AuthRecord } from './record.js';

/**
 * The one file that holds tokens and client secrets: 0600, and either the old text or the new one. Each change reads it
 * again, so that two daemons of one user (two sockets) do not undo each other's. Written at once and not later: a
 * refresh token that was replaced and not kept is lost for good.
 */
export class AuthFile {
  readonly #path: string;
  readonly #log: (text: string) => void;

  constructor(path: string, log: (text: string) => void) {
    this.#path = path;
    this.#log = log;
  }

  read(key: string): AuthRecord {
    const records = this.#readAll();
    const record: unknown = records[key];
    return isObject(record) ? soundRecord(record) : {};
  }

  /** An empty record is taken out. False when there was nothing to change. */
  write(key: string, record: AuthRecord): boolean {
    const records = this.#readAll();
    const isEmpty = Object.values(record).every((value) => value === undefined);
    if (isEmpty && !Object.hasOwn(records, key)) return false;
    if (isEmpty) delete records[key];
    else records[key] = record;
    this.#replace(`${JSON.stringify({ version: 1, servers: records }, null, 2)}\n`);
    return true;
  }

  #readAll(): Record<string, AuthRecord> {
    // without a prototype: names of servers are keys here
    const none: Record<string, AuthRecord> = Object.create(null);
    let text: string;
    try {
      text = readFileSync(this.#path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return none;
      throw this.#trouble('read', error);
    }
    try {
      const parsed: unknown = JSON.parse(text);
      if (isObject(parsed) && isObject(parsed.servers)) return Object.assign(none, parsed.servers);
    } catch {
      // told below; what JSON.parse says would quote the file
    }
    this.#log(`${this.#path} makes no sense and is taken for empty: servers have to be authorised again`);
    return none;
  }

  #replace(text: string): void {
    try {
      replaceFile(this.#path, text, { synced: 'before' });
    } catch (error) {
      throw this.#trouble('written', error);
    }
  }

  #trouble(what: 'read' | 'written', error: unknown): MCPError {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    return new MCPError(`${this.#path} cannot be ${what} (${code})`, {
      why: 'tokens are kept there',
      fix: `make it and its folder yours: chmod 600 ${this.#path}`,
    });
  }
}
