import { type Logger, pino } from 'pino';
import { escaped } from '../shared/text/control-characters.js';
import { daemonLog, serverLog } from './log-paths.js';
import { RotatingFile } from './rotating-file.js';

export interface LogOptions {
  /** The folder that holds `daemon.log` and a file for each server. */
  folder: string;
  level: string;
  maxBytes: number;
  redact(text: string): string;
  /** A second stream, for `up --foreground`. */
  echo?: { write(text: string): void } | undefined;
}

/** The log files: one for the daemon and one for each server, one JSON object in a line. */
export class Logs {
  readonly daemon: Logger;
  readonly #options: LogOptions;
  readonly #files: RotatingFile[] = [];
  readonly #servers = new Map<string, Logger>();

  constructor(options: LogOptions) {
    this.#options = options;
    this.daemon = this.#open(daemonLog(options.folder));
  }

  server(name: string): Logger {
    const known = this.#servers.get(name);
    if (known !== undefined) return known;
    const logger = this.#open(serverLog(this.#options.folder, name));
    this.#servers.set(name, logger);
    return logger;
  }

  close(): void {
    for (const file of this.#files.splice(0)) file.close();
  }

  #open(path: string): Logger {
    const { level, maxBytes, redact, echo } = this.#options;
    const file = new RotatingFile(path, maxBytes);
    this.#files.push(file);
    const write = (line: string) => {
      // escaped, since `tail` may print this file on a terminal
      const clean = escaped(redact(line));
      file.write(clean);
      echo?.write(clean);
    };
    return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, { write });
  }
}
