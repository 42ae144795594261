import type { HerdServerSpec, ServerSpec } from '../../config/fields/spec.js';
import type {
  Detail,
  FleetHistory,
  HistoryParams,
  Inspection,
  Order,
  PinParams,
  PinReport,
  Selection,
  ServerStatus,
} from '../../fleet/fleet.js';
import { withTimeout } from '../../shared/async.js';
import type { ProfileLens } from '../catalog/profile-lens.js';
import { ordersElsewhere } from '../cluster/refusals.js';
import { checkConfigured, severalServers } from '../errors.js';
import { reportPins } from '../pins/report.js';
import type { ConfiguredServer } from '../server/configured-server.js';
import { runsHere } from '../server/create-runner.js';
import { redactedSpec } from '../spec-identity.js';
import type { ViewServers } from '../view/view-servers.js';
import type { HerdCore, ViewSubscriber, VisibleServer } from './herd-core.js';

export interface ViewOrdersOptions {
  core: HerdCore;
  view: ViewSubscriber;
  servers: ViewServers;
  /** It is the view of the whole herd: its status also shows what other views have at rest. */
  isGlobal: boolean;
  /** The profile of the view: its orders reach no server of another view. */
  lens(): ProfileLens | undefined;
}

/** For how long an order that waits also waits for lists. */
const LISTS_MS = 5000;

/** A server of another view in one of these is not listed, and no order for all reaches it: `restart --all` would start it. */
const AT_REST: ReadonlySet<Detail> = new Set(['idle', 'stopped', 'disabled', 'not_allowed', 'misconfigured']);

/** Orders to servers and questions about them, by name or for all, as one view has them. */
export class ViewOrders {
  readonly #core: HerdCore;
  readonly #view: ViewSubscriber;
  readonly #servers: ViewServers;
  readonly #isGlobal: boolean;
  readonly #lens: () => ProfileLens | undefined;

  constructor({ core, view, servers, isGlobal, lens }: ViewOrdersOptions) {
    this.#lens = lens;
    this.#core = core;
    this.#view = view;
    this.#servers = servers;
    this.#isGlobal = isGlobal;
  }

  /** Without names it also has the running servers of other views. */
  status(names?: readonly string[]): ServerStatus[] {
    if (names !== undefined) return this.#statusOf(this.#named(names));
    if (!this.#isGlobal) return this.#statusOf(this.#all());
    return this.#statusOf([...this.#view.visibles(), ...this.#core.others(this.#view)]);
  }

  /** Without names the global view also has the servers of other views. Any other has only its own. */
  history({ servers: names, minutes }: HistoryParams = {}): FleetHistory {
    if (this.#isGlobal) {
      const all = [...this.#view.visibles(), ...this.#core.others(this.#view)];
      return this.#core.history(names === undefined ? all : this.#named(names), minutes);
    }
    const unknown = names?.find((name) => this.#servers.get(name) === undefined);
    if (unknown !== undefined) throw this.#servers.unknown(unknown);
    const own = this.#view.visibles().filter(({ server }) => names?.includes(server.spec.name) !== false);
    return this.#core.history(own, minutes);
  }

  async order(order: Order, selection: Selection, wait = false): Promise<ServerStatus[]> {
    this.#core.checkOpen();
    const visibles = 'all' in selection ? this.#all() : this.#named(selection.servers);
    // one that never runs is stopped already
    if ('servers' in selection && order !== 'stop')
      for (const { server } of visibles) checkConfigured(server.spec);
    const servers = new Set(visibles.flatMap((visible) => this.#meant(visible)));
    if ('servers' in selection) for (const server of servers) checkPlace(server);
    const predecessors = order === 'stop' || order === 'restart' ? this.#predecessorsOf(servers) : [];
    for (const predecessor of predecessors) predecessor.stop();
    const meant = [...servers].filter(
      ({ spec }) => spec.enabled && spec.transport !== 'herd' && runsHere(spec),
    );
    // an order for all does not reach other machines, where other people may use the servers
    const elsewhere = 'all' in selection ? [] : [...servers].map(({ spec }) => spec).filter(isElsewhere);
    await this.#core.orderElsewhere(order, elsewhere, wait);
    for (const server of meant) server[order]();
    if (wait) await this.#obeyed(order, order === 'stop' ? [...meant, ...predecessors] : meant);
    return this.#statusOf(visibles);
  }

  inspect(name: string): Inspection {
    const visibles = this.#named([name]);
    if (visibles.length > 1) throw severalServers(name, agentsOf(visibles));
    const [{ server, isOther }] = visibles as [VisibleServer];
    // a `per-folder` server has another folder than its entry
    const isOwnSpec = isOther || server.spec.sharing === 'per-folder';
    return {
      server: name,
      status: this.#statusOf(visibles)[0]!,
      spec: redactedSpec(isOwnSpec ? server.spec : this.#servers.specOf(name), (value) =>
        this.#core.redact(value),
      ),
      snapshot: server.snapshot().states,
      journal: this.#core.journalOf(server),
    };
  }

  /** Accepts pins if `accept` is set, then reports all pins. */
  pins({ server: name, accept = false, hashes }: PinParams): PinReport {
    const servers = this.#serversOf(name);
    const lens = this.#lens();
    // a cached list changed no pins when it was compared; another herd may have accepted changes since
    for (const server of servers) if (server.catalog.keysOf('tools') !== undefined) server.recheckPins();
    const wanted = lens === undefined ? hashes && new Set(hashes) : offeredHashes(lens, servers, hashes);
    const accepted = !accept
      ? []
      : servers.flatMap(({ spec, pinning }) =>
          (pinning?.accept(wanted) ?? []).map((one) => ({ server: spec.name, ...one })),
        );
    if (accepted.length > 0)
      this.#core.recheckPins(new Set(servers.flatMap(({ pinning }) => pinning?.identity ?? [])));
    const policy = this.#core.pinPolicy();
    return { policy, servers: pinsIn(lens, servers), accepted };
  }

  /** The owner tags of its servers' lines in the logs. */
  logOwnerTags(name?: string): { name: string; tag: string | undefined }[] {
    return this.#serversOf(name).map(({ spec, key }) => ({
      name: spec.name,
      tag: this.#core.logOwnerTag(key),
    }));
  }

  #statusOf(visibles: readonly VisibleServer[]): ServerStatus[] {
    return this.#core.status(visibles, this.#lens());
  }

  /** The view's servers of these names, in its order, and those of other views for each name that it does not have. */
  #named(names: readonly string[]): VisibleServer[] {
    const wanted = new Set(names);
    const unknown = [...wanted].filter((name) => this.#servers.get(name) === undefined);
    const others = unknown.flatMap((name) => this.#elsewhere(name));
    const own =
      names.length === 1
        ? this.#view.visibles(names[0])
        : this.#view.visibles().filter(({ server }) => wanted.has(server.spec.name));
    return [...own, ...others];
  }

  /** Throws where no other view has one either. */
  #elsewhere(name: string): VisibleServer[] {
    const others = this.#lens() === undefined ? this.#core.others(this.#view, name) : [];
    if (others.length === 0) throw this.#servers.unknown(name);
    return others;
  }

  /** The view's servers, and those of other views that are not at rest. */
  #all(): VisibleServer[] {
    if (this.#lens() !== undefined) return [...this.#view.visibles()];
    const others = this.#core
      .others(this.#view)
      .filter(({ server }) => !AT_REST.has(server.snapshot().detail));
    return [...this.#view.visibles(), ...others];
  }

  #serversOf(name: string | undefined): ConfiguredServer[] {
    return name === undefined ? this.#servers.servers : this.#named([name]).map(({ server }) => server);
  }

  /** An order for a placeholder goes to every agent's own server. */
  #meant({ server, isPlaceholder }: VisibleServer): ConfiguredServer[] {
    return isPlaceholder ? this.#core.pool.ofAgents(server.spec) : [server];
  }

  /** What still answers calls of an entry that has changed: a user who stops or restarts the server does not wait for it. */
  #predecessorsOf(servers: ReadonlySet<ConfiguredServer>): ConfiguredServer[] {
    const keys = new Set([...servers].map(({ key }) => key));
    return this.#core.pool.retiring.filter(({ key }) => keys.has(key));
  }

  async #obeyed(order: Order, servers: readonly ConfiguredServer[]): Promise<void> {
    const isStop = order === 'stop';
    await Promise.all(servers.map((server) => (isStop ? server.whenGone() : server.whenDecided())));
    if (isStop) return;
    // an order waits for the lists too, but not for long
    const listed = Promise.all(servers.map((server) => server.whenListsRead()));
    await withTimeout(LISTS_MS, listed, this.#core.clock);
  }
}

function isElsewhere(spec: ServerSpec): spec is HerdServerSpec {
  return spec.transport === 'herd';
}

/** Throws where the daemons of other nodes decide about a server. Orders do not go to them. */
function checkPlace(server: ConfiguredServer): void {
  const { name, enabled } = server.spec;
  if (!enabled || runsHere(server.spec)) return;
  throw ordersElsewhere(name, server.snapshot().nodes?.map(({ node }) => node) ?? []);
}

/** The agent files of these servers, without duplicates. */
export function agentsOf(visibles: readonly VisibleServer[]): string[] {
  return [...new Set(visibles.flatMap(({ agent }) => agent ?? []))];
}

/** The pins of the tools that the view has. */
function pinsIn(lens: ProfileLens | undefined, servers: readonly ConfiguredServer[]): PinReport['servers'] {
  const { servers: all } = reportPins(servers);
  if (lens === undefined) return all;
  return all.map((one) => ({ ...one, tools: one.tools.filter(({ tool }) => lens.has(one.server, tool)) }));
}

/** What a profile may accept: the definitions of the tools that it has. */
function offeredHashes(
  lens: ProfileLens,
  servers: readonly ConfiguredServer[],
  hashes: readonly string[] | undefined,
): Set<string> {
  const offered = pinsIn(lens, servers).flatMap(({ tools }) =>
    tools.flatMap(({ offered: version }) => version?.hash ?? []),
  );
  return new Set(offered.filter((hash) => hashes?.includes(hash) !== false));
}
