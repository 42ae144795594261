import type { Clock } from '../../shared/clock.js';
import { withoutEscapes } from '../../shared/text/control-characters.js';
import { LogLines } from './log-lines.js';
import { OutputTail } from './output-tail.js';

/** The end of what a process wrote, and to which stream. */
export interface LastOutput {
  stream: 'stderr' | 'stdout';
  text: string;
}

const NEWLINE = Buffer.from('\n');

/**
 * What a server prints beside its messages: its stderr, and lines on stdout that are no messages ("noise"). Both are
 * logged line by line, and the end of each is kept, because it often says why the server exited.
 */
export class ServerOutput {
  readonly #stderrLog: LogLines;
  readonly #noiseLog: LogLines;
  readonly #stderrTail: OutputTail;
  readonly #noiseTail: OutputTail;

  constructor(
    clock: Clock,
    redact: (text: string) => string,
    log: (source: LastOutput['stream'], text: string) => void,
  ) {
    // escapes are removed first: a colour code inside a secret would hide it from redaction
    const clean = (line: string) => redact(withoutEscapes(line));
    this.#stderrLog = new LogLines(clock, { clean, line: (text) => log('stderr', text) });
    this.#noiseLog = new LogLines(clock, { clean, line: (text) => log('stdout', text) });
    this.#stderrTail = new OutputTail(clock);
    this.#noiseTail = new OutputTail(clock);
  }

  stderr(chunk: Buffer): void {
    this.#stderrLog.push(chunk);
    this.#stderrTail.push(chunk);
  }

  noise(line: Buffer): void {
    for (const sink of [this.#noiseLog, this.#noiseTail]) {
      sink.push(line);
      sink.push(NEWLINE);
    }
  }

  /** The process is dead: a last line without a newline is logged. */
  endLines(): void {
    this.#stderrLog.end();
    this.#noiseLog.end();
  }

  /** Another process begins. */
  clearTails(): void {
    this.#stderrTail.clear();
    this.#noiseTail.clear();
  }

  /** What was written since this time: stderr where it has any text, else the noise. */
  lastSince(time: number): LastOutput | undefined {
    const outputs: LastOutput[] = [
      { stream: 'stderr', text: this.#stderrTail.textSince(time) },
      { stream: 'stdout', text: this.#noiseTail.textSince(time) },
    ];
    return outputs.find(({ text }) => text.trim() !== '');
  }
}
