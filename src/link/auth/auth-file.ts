import { readFileSync } from 'node:fs';
import { MCPError } from '../../shared/call-errors.js';
import { codeOf, isCode } from '../../shared/errors.js';
import { replaceFile } from '../../shared/files/replace-file.js';
import { isObject } from '../../shared/json.js';
import { type AuthRecord, validRecord } from './record.js';

/**
 * The file with tokens and client secrets: mode 0600, replaced atomically. Each change reads it again, so that two daemons
 * of one user (two sockets) do not undo each other's changes. Written at once: a new refresh token that is not saved is
 * lost for good.
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
    return isObject(record) ? validRecord(record) : {};
  }

  /** An empty record is removed. False when there was nothing to change. */
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
    // without a prototype: names of servers are keys
    const none: Record<string, AuthRecord> = Object.create(null);
    let text: string;
    try {
      text = readFileSync(this.#path, 'utf8');
    } catch (error) {
      if (isCode(error, 'ENOENT')) return none;
      throw this.#fileError('read', error);
    }
    try {
      const parsed: unknown = JSON.parse(text);
      if (isObject(parsed) && isObject(parsed.servers)) return Object.assign(none, parsed.servers);
    } catch {
      // logged below; the message of JSON.parse would quote the file
    }
    this.#log(`${this.#path} makes no sense and is taken for empty: servers have to be authorised again`);
    return none;
  }

  #replace(text: string): void {
    try {
      replaceFile(this.#path, text, { synced: 'before' });
    } catch (error) {
      throw this.#fileError('written', error);
    }
  }

  #fileError(what: 'read' | 'written', error: unknown): MCPError {
    const code = codeOf(error) ?? 'unknown error';
    return new MCPError(`${this.#path} cannot be ${what} (${code})`, {
      why: 'tokens are kept there',
      fix: `make it and its folder yours: chmod 600 ${this.#path}`,
    });
  }
}
