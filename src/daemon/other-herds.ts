import { type HerdServerSpec, type HerdSpec, isHerd, type ServerSpec } from '../config/fields/spec.js';
import { herdServerSpec } from '../config/read-herds.js';
import type {
  Fleet,
  FleetEvent,
  Inspection,
  LogEntry,
  LogParams,
  Order,
  ServerStatus,
  StateEvent,
} from '../fleet/fleet.js';
import type { HerdDeps } from '../herds/herd-link.js';
import { OtherHerd } from '../herds/other-herd.js';
import { ServerUnavailableError } from '../shared/call-errors.js';
import { type Clock, dateOf } from '../shared/clock.js';
import { HERD_SEPARATOR } from '../shared/mcp/separators.js';
import { shellWord } from '../shared/text/shell-word.js';
import { Latencies } from '../supervisor/server/configured-server.js';

export interface OtherHerdsOptions {
  clock: Clock;
  /** These servers of a herd are there now: the views get them. */
  changed(): void;
  /** The connection to a herd is open: the lists of its servers may have changed meanwhile. */
  opened(names: readonly string[]): void;
  /** Emits an event about a server of another herd. */
  emit(event: StateEvent): void;
}

interface Known {
  herd: OtherHerd;
  latencies: Latencies;
  /** By their names there. The same object for as long as the server is there: its identity is worked out once. */
  specs: Map<string, HerdServerSpec>;
}

/** The other herds of the config: their servers in this herd, and the requests that their daemons answer. */
export class OtherHerds {
  readonly #options: OtherHerdsOptions;
  readonly #known = new Map<string, Known>();

  constructor(options: OtherHerdsOptions) {
    this.#options = options;
  }

  /** The state of a herd, for connections to its servers. */
  readonly portOf = (name: string): OtherHerd => this.#of(name).herd;

  /** What the link of a herd writes. */
  linkPorts(spec: HerdSpec): Pick<HerdDeps, 'herd' | 'listed' | 'event' | 'measured'> {
    const known = this.#of(spec.name);
    return {
      herd: known.herd,
      listed: (isFirst) => {
        this.#listed(spec, known);
        if (isFirst) this.#options.opened([...known.specs.values()].map(({ name }) => name));
      },
      event: (event) => this.#pass(known, event),
      measured: (ms) => known.latencies.add(ms),
    };
  }

  /** The given servers, and behind them those of their herds. Where both have a name, the given one wins. */
  with(specs: readonly ServerSpec[]): ServerSpec[] {
    const names = new Set(specs.map(({ name }) => name));
    const theirs = specs.filter(isHerd).flatMap(({ name }) => [...this.#of(name).specs.values()]);
    return [...specs, ...theirs.filter(({ name }) => !names.has(name))];
  }

  /** The config has these herds now. */
  keep(specs: readonly ServerSpec[]): void {
    const names = new Set(specs.filter(isHerd).map(({ name }) => name));
    for (const name of this.#known.keys()) if (!names.has(name)) this.#known.delete(name);
  }

  /** What `status` shows of a server in place of what this daemon knows of the connection to it. */
  readonly mirrorOf = (spec: ServerSpec): Partial<ServerStatus> | undefined => {
    if (isHerd(spec)) {
      const { latencies, specs } = this.#of(spec.name);
      return { herd_servers: specs.size, latency_ms: latencies.percentiles(), protocol_version: null };
    }
    if (spec.transport !== 'herd') return undefined;
    const { herd } = this.#of(spec.herd);
    const told = herd.servers.get(spec.remoteName);
    if (herd.connection !== undefined && told !== undefined) return { herd: spec.herd, ...ownFacts(told) };
    return { herd: spec.herd, ...awayFacts(herd, told) };
  };

  /** Sends an order to the daemons that keep these servers. */
  async order(order: Order, specs: readonly HerdServerSpec[], wait: boolean): Promise<void> {
    const byHerd = new Map<string, string[]>();
    for (const { herd, remoteName } of specs) byHerd.set(herd, [...(byHerd.get(herd) ?? []), remoteName]);
    // all of them are reached, or none gets an order
    const orders = [...byHerd].map(([name, servers]) => ({ servers, ...this.#reached(name) }));
    await Promise.all(
      orders.map(async ({ servers, fleet, herd }) => herd.update(await fleet[order]({ servers }, wait))),
    );
  }

  /** What happened to the server, as its daemon tells it; undefined where that is not reached. */
  async inspect(spec: HerdServerSpec): Promise<Inspection | undefined> {
    const { herd } = this.#of(spec.herd);
    const found = await herd.connection?.fleet.inspect(spec.remoteName).catch(() => undefined);
    return found && { ...found, server: spec.name };
  }

  /** Lines of the log that the other daemon keeps of the server. */
  async logs(spec: HerdServerSpec, params: LogParams): Promise<LogEntry[]> {
    const { fleet } = this.#reached(spec.herd);
    const entries = await fleet.logs({ ...params, server: spec.remoteName });
    return entries.map((entry) => ({ ...entry, server: spec.name }));
  }

  #reached(name: string): { herd: OtherHerd; fleet: Fleet } {
    const { herd } = this.#of(name);
    if (herd.connection !== undefined) return { herd, fleet: herd.connection.fleet };
    throw new ServerUnavailableError(`the herd ${name} is away: ${herd.why}`, {
      retryable: true,
      why: 'its daemon keeps the server, and cannot be reached',
      fix: `see "toolherd why ${shellWord(name)}"`,
    });
  }

  #listed(spec: HerdSpec, known: Known): void {
    const { herd, specs } = known;
    const names = [...herd.servers.keys()];
    if (names.length === specs.size && names.every((name) => specs.has(name))) return;
    known.specs = new Map(names.map((name) => [name, specs.get(name) ?? herdServerSpec(spec, name)]));
    this.#options.changed();
  }

  #pass({ herd }: Known, event: FleetEvent): void {
    if (event.topic !== 'state') return;
    this.#options.emit({ ...event, server: `${herd.name}${HERD_SEPARATOR}${event.server}` });
  }

  #of(name: string): Known {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const { clock } = this.#options;
    const made = {
      herd: new OtherHerd(name, clock, dateOf(clock)),
      latencies: new Latencies(),
      specs: new Map(),
    };
    this.#known.set(name, made);
    return made;
  }
}

/** What only the daemon knows that keeps the server. */
function ownFacts(told: ServerStatus): Partial<ServerStatus> {
  const { state, detail, transport, lifecycle, pids, incarnation, restarts, next_retry_at } = told;
  const { last_error, since, rss_bytes, protocol_version, server_info, runner, package: found } = told;
  return {
    ...{ state, detail, transport, lifecycle, pids, incarnation, restarts, next_retry_at },
    ...{ last_error, since, rss_bytes, protocol_version, server_info },
    ...(runner === undefined ? {} : { runner }),
    ...(found === undefined ? {} : { package: found }),
  };
}

function awayFacts(herd: OtherHerd, told: ServerStatus | undefined): Partial<ServerStatus> {
  const since = new Date(herd.since).toISOString();
  return {
    ...(told === undefined ? {} : { transport: told.transport, lifecycle: told.lifecycle }),
    state: 'disconnected',
    detail: 'waiting',
    pids: [],
    rss_bytes: 0,
    next_retry_at: null,
    since,
    last_error: {
      message: `the herd ${herd.name} is away: ${herd.why}`,
      cause: 'lost',
      fix: `see "toolherd why ${shellWord(herd.name)}"`,
      at: since,
    },
  };
}
