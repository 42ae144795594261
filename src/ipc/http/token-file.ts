import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isCode, ToolherdError } from '../../shared/errors.js';

const TOKEN_BYTES = 32;
const TOKEN = /^[\w-]{32,}$/;
const OTHERS = 0o077;

/** Reads the token of the port, and makes one where there is none. Refuses a file that other users can read or write. */
export function readToken(path: string): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    writeFileSync(path, `${token}\n`, { flag: 'wx', mode: 0o600 });
    return token;
  } catch (error) {
    if (!isCode(error, 'EEXIST')) {
      // a full disk leaves an empty file, on which every later start would fail
      if (isCode(error, 'ENOSPC', 'EDQUOT')) rmSync(path, { force: true });
      throw error;
    }
  }
  const stats = lstatSync(path);
  const fix = `remove it; a new one is made when daemon.http is opened again`;
  if (!stats.isFile() || stats.uid !== process.getuid?.() || (stats.mode & OTHERS) !== 0) {
    throw new ToolherdError(`the token in ${path} is not secret`, {
      why: 'it is no file of yours that only you can read',
      fix,
    });
  }
  const token = readFileSync(path, 'utf8').trim();
  if (!TOKEN.test(token)) throw new ToolherdError(`${path} holds no token`, { fix });
  return token;
}
