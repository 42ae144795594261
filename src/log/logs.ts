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

/** How many servers' files are open at once. Agents and `register` bring new names, and each open file is a descriptor. */
const MOST_OPEN = 64;

interface Log {
  logger: Logger;
  file: RotatingFile;
}

/** The log files: one for the daemon and one for each server, one JSON object in a line. */
export class Logs {
  readonly #options: LogOptions;
  #level: string;
  readonly #daemon: Log;
  /** The one that was used last is at the end. */
  readonly #servers = new Map<string, Log>();

  constructor(options: LogOptions) {
    this.#options = options;
    this.#level = options.level;
    this.#daemon = this.#open(daemonLog(options.folder));
  }

  get daemon(): Logger {
    return this.#daemon.logger;
  }

  /** For one line: the file of a logger that was kept would never be closed. */
  server(name: string): Logger {
    const log = this.#servers.get(name) ?? this.#open(serverLog(this.#options.folder, name));
    this.#servers.delete(name);
    this.#servers.set(name, log);
    if (this.#servers.size > MOST_OPEN) {
      const [oldest, { file }] = this.#servers.entries().next().value!;
      this.#servers.delete(oldest);
      file.close();
    }
    return log.logger;
  }

  /** The lowest level of the lines from now on, in all files. */
  setLevel(level: string): void {
    this.#level = level;
    for (const { logger } of [this.#daemon, ...this.#servers.values()]) logger.level = level;
  }

  close(): void {
    for (const { file } of [this.#daemon, ...this.#servers.values()]) file.close();
    this.#servers.clear();
  }

  #open(path: string): Log {
    const { maxBytes, redact, echo } = this.#options;
    const file = new RotatingFile(path, maxBytes);
    const write = (line: string) => {
      // escaped, since `tail` may print this file on a terminal
      const clean = escaped(redact(line));
      file.write(clean);
      echo?.write(clean);
    };
    const logger = pino(
      { level: this.#level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
      { write },
    );
    return { logger, file };
  }
}
