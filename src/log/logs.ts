import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type Logger, pino } from 'pino';
import { RotatingFile } from './rotating-file.js';

const LONGEST = 180;

export interface LogOptions {
  /** The folder that holds `daemon.log` and a file for each server. */
  folder: string;
  level: string;
  maxBytes: number;
  redact(text: string): string;
  /** Also to this stream, for `up --foreground`. */
  echo?: { write(text: string): void } | undefined;
}

/** Where everything is written down: one file for the daemon, one for each server, JSON a line. */
export class Logs {
  readonly daemon: Logger;
  readonly #options: LogOptions;
  readonly #files: RotatingFile[] = [];
  readonly #servers = new Map<string, Logger>();

  constructor(options: LogOptions) {
    this.#options = options;
    this.daemon = this.#open('daemon');
  }

  server(name: string): Logger {
    const known = this.#servers.get(name);
    if (known !== undefined) return known;
    const logger = this.#open(join('servers', fileName(name)));
    this.#servers.set(name, logger);
    return logger;
  }

  close(): void {
    for (const file of this.#files.splice(0)) file.close();
  }

  #open(name: string): Logger {
    const { folder, level, maxBytes, redact, echo } = this.#options;
    const file = new RotatingFile(join(folder, `${name}.log`), maxBytes);
    this.#files.push(file);
    const write = (line: string) => {
      const clean = redact(line);
      file.write(clean);
      echo?.write(clean);
    };
    return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, { write });
  }
}

/** A server may be called anything; a file may not, and two servers may not share one. */
function fileName(name: string): string {
  // half a character cannot be encoded
  const whole = Buffer.from(name).toString();
  const encoded = encodeURIComponent(whole).replaceAll('.', '%2E');
  if (encoded.length <= LONGEST && whole === name) return encoded;
  const hash = createHash('sha256').update(JSON.stringify(name)).digest('hex').slice(0, 16);
  return `${encoded.slice(0, LONGEST)}-${hash}`;
}
