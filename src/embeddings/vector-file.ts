import { appendFile, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { nextTurn, serialize } from '../shared/async.js';

/** Of a text: the SHA-256 in hex. */
export type VectorKey = string;

const MAGIC = Buffer.from('toolherd-vec1');
const HEADER = MAGIC.length + 4;
const KEY = 32;
const MOST_DIMENSIONS = 65_536;
/** Vectors that are read in one turn. */
const SLICE = 256;

/**
 * The vectors of one service and model: a header with their number of dimensions, then for each the key and its numbers
 * (32 bits, little-endian). It is a cache: a file that cannot be read or written is as good as none.
 */
export class VectorFile {
  readonly #path: string;
  readonly #mostBytes: number;
  readonly #inTurn = serialize();
  /** Of the vectors in the file; undefined: the next append begins it anew. */
  #dimensions: number | undefined;

  constructor(path: string, mostBytes: number) {
    this.#path = path;
    this.#mostBytes = mostBytes;
  }

  /** All vectors of the file. Half a vector at its end, from a daemon that was killed, is cut off. */
  async read(): Promise<Map<VectorKey, Float32Array>> {
    const vectors = new Map<VectorKey, Float32Array>();
    const bytes = await this.#readBytes();
    if (bytes === undefined || !bytes.subarray(0, MAGIC.length).equals(MAGIC) || bytes.length < HEADER)
      return vectors;
    const dimensions = bytes.readUInt32LE(MAGIC.length);
    if (dimensions === 0 || dimensions > MOST_DIMENSIONS) return vectors;
    const size = sizeOf(dimensions);
    let count = 0;
    for (let at = HEADER; at + size <= bytes.length; at += size) {
      const vector = new Float32Array(dimensions);
      bytes.copy(Buffer.from(vector.buffer), 0, at + KEY, at + size);
      if (isUnit(vector)) vectors.set(bytes.toString('hex', at, at + KEY), vector);
      count += 1;
      if (count % SLICE === 0) await nextTurn();
    }
    if (vectors.size > 0 && HEADER + count * size === bytes.length) this.#dimensions = dimensions;
    else if (vectors.size > 0) await this.replace(vectors);
    return vectors;
  }

  append(vectors: ReadonlyMap<VectorKey, Float32Array>): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#dimensions === undefined) return this.#write(vectors);
      await appendFile(this.#path, recordsOf(vectors)).catch(() => undefined);
    });
  }

  /** Writes the file with these vectors and no others. All have the same length. */
  replace(vectors: ReadonlyMap<VectorKey, Float32Array>): Promise<void> {
    return this.#inTurn(() => this.#write(vectors));
  }

  /** Resolves when all that was to be written before is in the file. */
  written(): Promise<void> {
    return this.#inTurn(async () => undefined);
  }

  async #write(vectors: ReadonlyMap<VectorKey, Float32Array>): Promise<void> {
    const [first] = vectors.values();
    if (first === undefined) return;
    const header = Buffer.alloc(HEADER);
    MAGIC.copy(header);
    header.writeUInt32LE(first.length, MAGIC.length);
    const temporary = `${this.#path}.new`;
    try {
      await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
      await writeFile(temporary, Buffer.concat([header, recordsOf(vectors)]), { mode: 0o600 });
      await rename(temporary, this.#path);
      this.#dimensions = first.length;
    } catch {
      await rm(temporary, { force: true }).catch(() => undefined);
    }
  }

  async #readBytes(): Promise<Buffer | undefined> {
    try {
      if ((await stat(this.#path)).size > this.#mostBytes) return undefined;
      return await readFile(this.#path);
    } catch {
      return undefined;
    }
  }
}

function sizeOf(dimensions: number): number {
  return KEY + 4 * dimensions;
}

function recordsOf(vectors: ReadonlyMap<VectorKey, Float32Array>): Buffer {
  return Buffer.concat(
    [...vectors].flatMap(([key, { buffer, byteOffset, byteLength }]) => [
      Buffer.from(key, 'hex'),
      Buffer.from(buffer, byteOffset, byteLength),
    ]),
  );
}

/** A damaged file may hold any numbers. */
function isUnit(vector: Float32Array): boolean {
  let sum = 0;
  for (const number of vector) sum += number * number;
  return Math.abs(sum - 1) < 0.01;
}
