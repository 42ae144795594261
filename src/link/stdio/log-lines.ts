import type { Clock } from '../../shared/clock.js';
import { TokenBucket } from '../../shared/token-bucket.js';

export interface LogLimits {
  /** A longer line is cut. */
  lineBytes: number;
  /** The rate, and the most that may pass at once. */
  bytesPerSecond: number;
  burstBytes: number;
}

export const LOG_LIMITS: LogLimits = { lineBytes: 8192, bytesPerSecond: 2 ** 20, burstBytes: 4 * 2 ** 20 };
/** A secret may end behind the limit. So many more bytes are read and redacted before a line is cut: no key is longer. */
const LOOKAHEAD_BYTES = 4096;
/** An empty line costs something too. */
const LINE_COST = 64;
const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Gets the lines. */
export interface LineSink {
  /** Takes secrets and escapes out of a line before it is cut: the first half of a secret would not be recognised. */
  clean(line: string): string;
  line(text: string): void;
}

/**
 * Turns the output of a server into lines for the log, in bounded memory and at a bounded rate. Everything is read, so the
 * server never blocks; output over the rate is dropped, and a line says how much that was.
 */
export class LogLines {
  readonly #bucket: TokenBucket;
  readonly #limits: LogLimits;
  readonly #sink: LineSink;
  #line: Buffer[] = [];
  #kept = 0;
  #cut = 0;
  /** Inside a line whose beginning was dropped. */
  #skipping = false;
  #dropped = 0;

  constructor(clock: Clock, sink: LineSink, limits: LogLimits = LOG_LIMITS) {
    this.#sink = sink;
    this.#limits = limits;
    this.#bucket = new TokenBucket(clock, { perSecond: limits.bytesPerSecond, burst: limits.burstBytes });
  }

  push(chunk: Buffer): void {
    this.#bucket.refill();
    let start = 0;
    while (start < chunk.length) {
      if (this.#bucket.isEmpty) {
        this.#drop(chunk.subarray(start));
        return;
      }
      const end = chunk.indexOf(NEWLINE, start);
      const piece = chunk.subarray(start, end === -1 ? chunk.length : end);
      if (this.#skipping) this.#dropped += piece.length;
      else this.#keep(piece);
      if (end === -1) return;
      if (!this.#skipping) this.#emit();
      this.#skipping = false;
      start = end + 1;
    }
  }

  /** The stream has ended: the last line may lack its newline. */
  end(): void {
    if (this.#kept > 0) this.#emit();
    this.#reportDropped();
  }

  #keep(piece: Buffer): void {
    const room = this.#limits.lineBytes + LOOKAHEAD_BYTES - this.#kept;
    const kept = piece.subarray(0, Math.max(0, room));
    // copied, so that a short line does not keep a whole chunk in memory
    if (kept.length > 0) this.#line.push(Buffer.from(kept));
    if (this.#line.length > 64) this.#line = [Buffer.concat(this.#line)];
    this.#kept += kept.length;
    this.#cut += piece.length - kept.length;
  }

  #emit(): void {
    const whole = Buffer.concat(this.#line);
    const line = whole[whole.length - 1] === CARRIAGE_RETURN ? whole.subarray(0, -1) : whole;
    const text = this.#limited(line.toString('utf8'));
    this.#bucket.spend(Math.min(line.length, this.#limits.lineBytes) + LINE_COST);
    this.#forgetLine();
    this.#reportDropped();
    this.#sink.line(text);
  }

  #limited(line: string): string {
    const { lineBytes } = this.#limits;
    const clean = this.#sink.clean(line);
    const size = Buffer.byteLength(clean);
    if (this.#cut === 0 && size <= lineBytes) return clean;
    // where the line was cut unread, its last part may be the first half of a secret
    const safe = Buffer.from(clean).subarray(0, this.#cut === 0 ? undefined : -LOOKAHEAD_BYTES);
    const shown = safe.subarray(0, lineBytes);
    return `${shown.toString('utf8')} … (${size + this.#cut - shown.length} bytes cut)`;
  }

  #drop(rest: Buffer): void {
    this.#dropped += this.#kept + this.#cut + rest.length;
    this.#forgetLine();
    this.#skipping = rest[rest.length - 1] !== NEWLINE;
  }

  #forgetLine(): void {
    this.#line = [];
    this.#kept = 0;
    this.#cut = 0;
  }

  #reportDropped(): void {
    if (this.#dropped === 0) return;
    const dropped = this.#dropped;
    this.#dropped = 0;
    this.#sink.line(`(${dropped} bytes dropped: more than the log takes)`);
  }
}
