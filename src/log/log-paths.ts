import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const ENDING = '.log';
const LONGEST = 180;

export function daemonLog(folder: string): string {
  return join(folder, `daemon${ENDING}`);
}

export function serverLogFolder(folder: string): string {
  return join(folder, 'servers');
}

export function serverLog(folder: string, server: string): string {
  return join(serverLogFolder(folder), `${encode(server)}${ENDING}`);
}

/** The servers that have a log. A name that is too long for a file name cannot be read back, and is left out. */
export function serversWithLogs(folder: string): string[] {
  return filesIn(serverLogFolder(folder)).flatMap((file) => {
    const name = file.endsWith(ENDING) ? decode(file.slice(0, -ENDING.length)) : undefined;
    return name === undefined ? [] : [name];
  });
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // no server has run yet
    return [];
  }
}

/** A file name for any server name. Two servers never share one. */
function encode(name: string): string {
  // a lone surrogate cannot be encoded
  const whole = Buffer.from(name).toString();
  const encoded = encodeURIComponent(whole).replaceAll('.', '%2E');
  if (encoded.length <= LONGEST && whole === name) return encoded;
  const hash = createHash('sha256').update(JSON.stringify(name)).digest('hex').slice(0, 16);
  return `${encoded.slice(0, LONGEST)}-${hash}`;
}

function decode(file: string): string | undefined {
  try {
    const name = decodeURIComponent(file);
    return encode(name) === file ? name : undefined;
  } catch {
    return undefined;
  }
}
