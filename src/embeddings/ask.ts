import { codeOf } from '../shared/errors.js';
import { isObject } from '../shared/json.js';

/** A service for embeddings, by the API of OpenAI. */
export interface EmbeddingService {
  url: string;
  model?: string | undefined;
  /** A bearer token. */
  key?: string | undefined;
}

/** What the service did wrong, in words that hold nothing of its answer. */
export class EmbeddingError extends Error {}

const MOST_DIMENSIONS = 4096;
/** A number is seldom written with more than 24 characters. */
const MOST_BYTES_A_VECTOR = MOST_DIMENSIONS * 32;
const MOST_BYTES_AROUND = 64 * 1024;

/** The vectors of these texts, in their order and of length 1. Throws an EmbeddingError. */
export async function askVectors(
  service: EmbeddingService,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<Float32Array[]> {
  try {
    const response = await post(service, texts, signal);
    const answer = await readText(response, MOST_BYTES_AROUND + texts.length * MOST_BYTES_A_VECTOR);
    return vectorsOf(parse(answer), texts.length);
  } catch (error) {
    if (error instanceof EmbeddingError) throw error;
    if (signal.aborted) throw new EmbeddingError('it does not answer in time');
    const code = codeOf(error instanceof Error ? (error.cause ?? error) : error);
    throw new EmbeddingError(`the connection failed${code === undefined ? '' : ` (${code})`}`);
  }
}

async function post(
  { url, model, key }: EmbeddingService,
  input: readonly string[],
  signal: AbortSignal,
): Promise<Response> {
  const response = await fetch(endpointOf(url), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify({ input, ...(model !== undefined && { model }), encoding_format: 'float' }),
    // the key and the texts go to no other address
    redirect: 'error',
    signal,
  });
  if (response.ok) return response;
  await response.body?.cancel();
  throw new EmbeddingError(`it answers with HTTP status ${response.status}`);
}

/** A url that names the endpoint already is used as it is. */
export function endpointOf(url: string): URL {
  const endpoint = new URL(url);
  const path = endpoint.pathname.replace(/\/+$/, '');
  endpoint.pathname = path.endsWith('/embeddings') ? path : `${path}/embeddings`;
  endpoint.hash = '';
  return endpoint;
}

async function readText({ body }: Response, most: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    // leaving the loop cancels the rest
    if (size > most) throw new EmbeddingError('its answer is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new EmbeddingError('its answer is no JSON');
  }
}

function vectorsOf(answer: unknown, count: number): Float32Array[] {
  const data = isObject(answer) ? answer.data : undefined;
  if (!Array.isArray(data) || data.length !== count)
    throw new EmbeddingError('its answer does not have one vector for each text');
  const vectors = new Map<unknown, Float32Array>();
  for (const [at, one] of data.entries()) {
    const { index = at, embedding } = isObject(one) ? one : {};
    vectors.set(index, vectorOf(embedding));
  }
  return Array.from({ length: count }, (_, at) => {
    const vector = vectors.get(at);
    if (vector === undefined) throw new EmbeddingError('its answer does not have one vector for each text');
    if (vector.length !== vectors.get(0)!.length) throw new EmbeddingError(OTHER_LENGTH);
    return vector;
  });
}

export const OTHER_LENGTH = 'its vectors have different lengths';

function vectorOf(numbers: unknown): Float32Array {
  const isVector =
    Array.isArray(numbers) &&
    numbers.length > 0 &&
    numbers.length <= MOST_DIMENSIONS &&
    numbers.every((number) => Number.isFinite(number));
  const length = isVector ? Math.hypot(...numbers) : 0;
  if (!(length > 0 && Number.isFinite(length)))
    throw new EmbeddingError('a vector of its answer has no meaning');
  return Float32Array.from(numbers as number[], (number) => number / length);
}
