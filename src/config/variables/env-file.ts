import { resolve } from 'node:path';
import type { FileContext } from '../fields/parsed-entry.js';
import { FileReadError, readSmallFile, resolveInside } from '../parse/read-file.js';
import { expand } from './variables.js';

/** Names and values of an envFile. dotenv only parses: it expands nothing and runs nothing. */
export async function readEnvFile(context: FileContext, written: string): Promise<Record<string, string>> {
  const text = readSmallFile(envFilePath(context, written));
  if (/^\s*(?:export\s+)?__proto__\s*[=:]/m.test(text)) {
    throw new FileReadError("The name '__proto__' cannot be used here", 'rename the variable');
  }
  // Imported only when needed: most files have no envFile, and the command should start fast.
  const { default: dotenv } = await import('dotenv');
  return Object.assign(Object.create(null), dotenv.parse(text));
}

/** The user's own file may name any file, a project's file only one inside its folder. */
function envFilePath({ folder, userHome, isUserOwned }: FileContext, written: string): string {
  const { text, uses, malformed } = expand(written, { sources: [], workspaceFolder: folder, userHome });
  if (uses.length > 0 || malformed.length > 0) {
    const message =
      'The path of an envFile may hold ${workspaceFolder} and ${userHome}, and no other variable';
    throw new FileReadError(message, 'write the path without the variable');
  }
  return isUserOwned ? resolve(folder, text) : resolveInside(folder, text);
}
