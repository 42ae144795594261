// A client that speaks JSON-RPC in lines, the same for every pipe and every socket: as cheap as a client can be that
// still parses what it gets, and knows each of its calls by an id.
import { connect } from 'node:net';
import { PATIENCE_MS, within } from '../patience.mjs';

const NEWLINE = 0x0a;

export class Lines {
  #input;
  #waiting = new Map();
  /** @type {Map<string, () => void>} */
  #notified = new Map();
  #last = 0;
  #out = '';
  /** @type {Buffer[]} */
  #held = [];

  constructor(
    /** @type {import('node:stream').Writable} */ input,
    /** @type {import('node:stream').Readable} */ output,
  ) {
    this.#input = input;
    output.on('data', (/** @type {Buffer} */ chunk) => this.#take(chunk));
    const ended = () => this.#fail(new Error('the connection was closed'));
    output.on('close', ended).on('end', ended);
    for (const stream of new Set([input, output]))
      stream.on('error', (/** @type {Error} */ error) => this.#fail(error));
  }

  /**
   * @param {string} method
   * @param {object} [params]
   * @returns {Promise<Bench.Json>}
   */
  request(method, params) {
    this.#last += 1;
    const id = this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#write({ jsonrpc: '2.0', id, method, params });
    });
  }

  /**
   * @param {string} method
   * @param {object} [params]
   */
  notify(method, params) {
    this.#write({ jsonrpc: '2.0', method, params });
  }

  /** Resolves with the next notification of this method. */
  notification(/** @type {string} */ method) {
    return new Promise((/** @type {(value: true) => void} */ resolve) => {
      this.#notified.set(method, () => resolve(true));
    });
  }

  /** What is asked in one turn of the loop goes out in one write. */
  #write(/** @type {object} */ message) {
    if (this.#out === '') process.nextTick(this.#flush);
    this.#out += `${JSON.stringify(message)}\n`;
  }

  #flush = () => {
    const whole = this.#out;
    this.#out = '';
    this.#input.write(whole);
  };

  #take(/** @type {Buffer} */ chunk) {
    const end = chunk.lastIndexOf(NEWLINE);
    if (end === -1) return void this.#held.push(chunk);
    let whole = chunk.subarray(0, end);
    if (this.#held.length > 0) whole = Buffer.concat([...this.#held, whole]);
    this.#held = end + 1 < chunk.length ? [chunk.subarray(end + 1)] : [];
    for (const line of /** @type {any} */ (whole).utf8Slice().split('\n')) this.#settle(JSON.parse(line));
  }

  #settle(
    /** @type {{ id: string, method?: string, result: Bench.Json, error: Error }} */ {
      id,
      method,
      result,
      error,
    },
  ) {
    if (method !== undefined) return void this.#notified.get(method)?.();
    const call = this.#waiting.get(id);
    if (call === undefined) return;
    this.#waiting.delete(id);
    if (error === undefined) call.resolve(result);
    else call.reject(new Error(error.message));
  }

  #fail(/** @type {Error} */ error) {
    for (const call of this.#waiting.values()) call.reject(error);
    this.#waiting.clear();
  }
}

/** Retries while too many connect at once, and while the socket is not there yet. */
export async function connectLines(/** @type {string} */ path) {
  for (const deadline = performance.now() + 10_000; ; ) {
    try {
      const socket = await new Promise((resolve, reject) => {
        const socket = connect(path, () => resolve(socket)).once('error', reject);
      });
      return { lines: new Lines(socket, socket), socket };
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }
}

export async function shakeHands(/** @type {Lines} */ lines) {
  const clientInfo = { name: 'bench', version: '1' };
  await lines.request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  lines.notify('notifications/initialized');
}

/**
 * Asks for the tools until all are listed. A daemon answers after `daemon.list_wait` with those that it knows, and notifies
 * when there are more. The connection has shaken hands: before that it gets no notifications.
 */
export async function listAll(/** @type {Lines} */ lines, /** @type {number} */ count) {
  for (const deadline = performance.now() + PATIENCE_MS; ; ) {
    const changed = lines.notification('notifications/tools/list_changed');
    const { tools } = await lines.request('tools/list');
    if (tools.length === count) return;
    if (tools.length > count || !(await within(deadline - performance.now(), changed)))
      throw new Error(`${tools.length} tools are listed, not ${count}`);
  }
}
