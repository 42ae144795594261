import type { ForwardHandle, ForwardSink, RequestParams } from '../../fleet/fleet.js';
import type { Ask, Outcome } from '../../link/session/call.js';
import type { MCPError } from '../../shared/call-errors.js';
import type { JsonObject } from '../../shared/json.js';
import type { ConfiguredServer } from '../server/configured-server.js';
import type { RoutedSink } from '../server/routed-sink.js';
import type { LookupOptions } from './lookups.js';
import { redactedError } from './send-to-server.js';

/**
 * The shortest way of a call: from a name that is known to the session of its server. Whatever needs more than a look
 * (a list to be read first, a result to be cut, a refusal to be explained) is left to `Requests`.
 */
export class Forwarding {
  readonly #options: LookupOptions;

  constructor(options: LookupOptions) {
    this.#options = options;
  }

  /** Undefined where this is not the way. */
  send(
    { server: only, method, params, timeout_ms: timeoutMs }: RequestParams,
    sink: ForwardSink,
  ): ForwardHandle | undefined {
    if (method !== 'tools/call' || typeof params.name !== 'string') return undefined;
    const { servers, catalog, redact } = this.#options;
    const found = only === undefined ? catalog.holderOf('tools', params.name) : undefined;
    const server = servers.get(only ?? found?.server ?? '');
    const own = found?.name ?? params.name;
    if (server === undefined || !isPlain(server, own)) return undefined;
    const sent = own === params.name ? params : { ...params, name: own };
    const request = { method, params: sent, timeoutMs, caller: sink.caller };
    return server.call(request, new ForwardedCall(sink, server, redact)) ?? SETTLED;
  }
}

/** It was refused at the door, and its sink knows. */
const SETTLED: ForwardHandle = { cancel: () => undefined };

function isPlain({ spec, catalog }: ConfiguredServer, tool: string): boolean {
  if (!spec.enabled || spec.resultLimit !== 0) return false;
  // what its config hides is not among them
  return catalog.keysOf('tools')?.has(tool) === true && catalog.blockOf(tool) === undefined;
}

class ForwardedCall implements RoutedSink {
  readonly progress: ((progress: JsonObject) => void) | undefined;
  readonly ask: Ask | undefined;
  readonly acceptsRaw = true;
  readonly #sink: ForwardSink;
  readonly #server: ConfiguredServer;
  readonly #redact: LookupOptions['redact'];

  constructor(sink: ForwardSink, server: ConfiguredServer, redact: LookupOptions['redact']) {
    this.progress = sink.onProgress;
    this.ask = sink.onRequest;
    this.#sink = sink;
    this.#server = server;
    this.#redact = redact;
  }

  settle(outcome: Outcome): void {
    this.#sink.settle(outcome.ok ? outcome : { ok: false, error: this.#redactedError(outcome.error) });
  }

  #redactedError(error: MCPError): MCPError {
    return redactedError(error, (text) => this.#redact(text, this.#server));
  }
}
