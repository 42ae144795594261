import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atEnd } from './share.js';

/** A request as the service got it. */
export interface EmbeddingRequest {
  path: string;
  authorization: string | undefined;
  model: string | undefined;
  input: string[];
}

/** How the service answers. It may also say nothing, or too much. */
export type Behaviour = (response: ServerResponse, input: string[]) => void;

export interface EmbeddingServer {
  url: string;
  requests: EmbeddingRequest[];
  behave(behaviour: Behaviour): void;
  /** Nothing listens on its port from now on. */
  close(): Promise<void>;
}

/** Words of a row mean the same. */
const CONCEPTS = [
  ['photograph', 'screenshot', 'picture'],
  ['correspondence', 'mail', 'letter'],
  ['erase', 'delete', 'remove'],
];
const OTHER_WORDS = 5;

/** A vector in which texts with words of the same concept are near each other. */
export function meaningOf(text: string): number[] {
  const vector = new Array<number>(CONCEPTS.length + OTHER_WORDS).fill(0.01);
  for (const word of text.toLowerCase().split(/[^a-z]+/)) {
    const concept = CONCEPTS.findIndex((words) => words.includes(word));
    const at = concept === -1 ? CONCEPTS.length + (word.charCodeAt(0) % OTHER_WORDS || 0) : concept;
    vector[at]! += concept === -1 ? 0.05 : 3;
  }
  return vector;
}

export const answer = (response: ServerResponse, body: unknown): void => {
  response.setHeader('content-type', 'application/json');
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
};

export const good: Behaviour = (response, input) => {
  const data = input.map((text, index) => ({ object: 'embedding', index, embedding: meaningOf(text) }));
  // the API promises no order
  answer(response, { object: 'list', data: data.reverse() });
};

/** A service with the API of OpenAI on a port of this machine. */
export async function embeddingServer(): Promise<EmbeddingServer> {
  const requests: EmbeddingRequest[] = [];
  let behaviour = good;
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      const { input, model } = JSON.parse(body) as { input: string[]; model?: string };
      const { url: path = '', headers } = request;
      requests.push({ path, authorization: headers.authorization, model, input });
      behaviour(response, input);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  atEnd(close);
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    behave: (other) => {
      behaviour = other;
    },
    close,
  };
}
