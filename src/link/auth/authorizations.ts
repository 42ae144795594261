import type { FetchLike } from '@modelcontextprotocol/client';
import type { HttpSpec, RemoteSpec, ServerSpec, SseSpec } from '../../config/fields/spec.js';
import type { Clock } from '../../shared/clock.js';
import { AuthFile } from './auth-file.js';
import { authorizedFetch, ownHeader } from './authorized-fetch.js';
import { probe } from './challenge.js';
import { elsewhere, headerRefused, headersOnly, onNodes } from './errors.js';
import { type GivenClient, recordKey } from './record.js';
import { ServerAuthorization } from './server-authorization.js';

export interface AuthorizationsOptions {
  /** The file with the tokens. */
  file: string;
  clock: Clock;
  log(text: string): void;
  /** A server got its authorisation. */
  granted(spec: RemoteSpec): void;
}

/** The state of an authorisation. `url`: the address that a person has to open. */
export type Progress = { state: 'authorized' } | { state: 'waiting'; url: string; done: Promise<void> };

/** Shorter values occur in too many harmless texts. */
const LEAST_SECRET = 6;

/** The authorisations of all servers of a daemon, and the file that keeps them. */
export class Authorizations {
  readonly #options: AuthorizationsOptions;
  readonly #file: AuthFile;
  readonly #servers = new Map<string, ServerAuthorization>();

  constructor(options: AuthorizationsOptions) {
    this.#options = options;
    this.#file = new AuthFile(options.file, options.log);
  }

  /** Adds the authorisation of a server to the fetch that sends its requests. */
  layer(spec: ServerSpec): ((send: FetchLike) => FetchLike) | undefined {
    if (!usesOAuth(spec)) return undefined;
    return (send) => authorizedFetch(spec, this.#of(spec), send);
  }

  /** Begins an authorisation where one is needed, or returns the one that waits for a person. */
  async authorize(spec: ServerSpec, given?: GivenClient): Promise<Progress> {
    if (spec.transport === 'websocket') throw headersOnly(spec);
    if (spec.transport === 'herd') throw elsewhere(spec);
    if (spec.transport === 'cluster') throw onNodes(spec);
    if (!usesOAuth(spec)) return { state: 'authorized' };
    const own = ownHeader(spec);
    const authorization = this.#of(spec);
    if (own === undefined && given === undefined && authorization.isGranted) return { state: 'authorized' };
    if (!authorization.hasChallenge || own !== undefined) {
      const challenge = await probe(spec, this.#options.clock);
      if (challenge === undefined) return { state: 'authorized' };
      if (own !== undefined) throw headerRefused(spec, own, challenge);
      authorization.challenged(challenge);
    }
    const { url, done } = await authorization.begin(given);
    return { state: 'waiting', url, done };
  }

  /** Removes everything that is stored. False when that was nothing. */
  forget(spec: ServerSpec): boolean {
    return usesOAuth(spec) || spec.transport === 'websocket' ? this.#of(spec).forget() : false;
  }

  /** Removes tokens and client secrets from a text. */
  redact(text: string): string {
    let result = text;
    for (const authorization of this.#servers.values()) {
      for (const secret of authorization.secrets) {
        if (secret.length >= LEAST_SECRET) result = result.replaceAll(secret, '[redacted:token]');
      }
    }
    return result;
  }

  close(): void {
    for (const authorization of this.#servers.values()) authorization.cancel();
  }

  #of(spec: RemoteSpec): ServerAuthorization {
    const key = recordKey(spec);
    const known = this.#servers.get(key);
    if (known !== undefined) return known;
    const { clock, granted } = this.#options;
    const made = new ServerAuthorization(spec, { file: this.#file, clock, granted });
    this.#servers.set(key, made);
    return made;
  }
}

/** Whether toolherd can authorise itself with the server. */
function usesOAuth(spec: ServerSpec): spec is HttpSpec | SseSpec {
  return spec.transport === 'http' || spec.transport === 'sse';
}
