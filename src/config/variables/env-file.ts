import { FileReadError, readSmallFile, resolveInside } from '../parse/read-file.js';

/** Names and values of an envFile. dotenv only parses: it expands nothing and runs nothing. */
export async function readEnvFile(folder: string, path: string): Promise<Record<string, string>> {
  const text = readSmallFile(resolveInside(folder, path));
  if (/^\s*(?:export\s+)?__proto__\s*[=:]/m.test(text)) {
    throw new FileReadError("The name '__proto__' cannot be used here", 'rename the variable');
  }
  // Imported only when needed: most files have no envFile, and the command should start fast.
  const { default: dotenv } = await import('dotenv');
  return Object.assign(Object.create(null), dotenv.parse(text));
}
