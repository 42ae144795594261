import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { HerdSpec } from '../config/fields/spec.js';
import { CLOSING, type Closing } from '../fleet/events.js';
import type { FleetEvent, ServerStatus } from '../fleet/fleet.js';
import type { Hello } from '../fleet/hello.js';
import { remoteFleet } from '../ipc/client/remote-fleet.js';
import type { Peer } from '../ipc/jsonrpc/peer.js';
import { connectSocket } from '../ipc/socket/connect-socket.js';
import { checkLength } from '../ipc/socket/socket-path.js';
import { endingError } from '../link/failures/ending-error.js';
import type { Link, LinkEvents, LinkLog, Unwatch } from '../link/link.js';
import { BaseLink } from '../link/protocol/negotiation/base-link.js';
import type { ProtocolDeps } from '../link/protocol/negotiation/protocol-stack.js';
import { ServerOutput } from '../link/stdio/server-output.js';
import type { ProcessDeps } from '../link/stdio/server-process.js';
import type { Ending, Failed } from '../machines/restart/ending.js';
import { isAlive } from '../processes/is-alive.js';
import type { StopStep } from '../processes/stop-sequence.js';
import { coalesce, sleep, withTimeout } from '../shared/async.js';
import { MCPConnectionError, MCPTimeoutError } from '../shared/call-errors.js';
import { dateOf } from '../shared/clock.js';
import { messageOf } from '../shared/errors.js';
import { isObject, type JsonObject } from '../shared/json.js';
import { CODE } from '../shared/mcp/rpc-codes.js';
import { HERD_SEPARATOR } from '../shared/mcp/separators.js';
import { nameFilter } from '../shared/text/glob.js';
import { seconds } from '../shared/text/seconds.js';
import { API_VERSION, VERSION } from '../shared/version.js';
import {
  daemonLost,
  noDaemon,
  noSocketPath,
  notOpened,
  otherVersion,
  sshEnded,
  tooSlow,
} from './herd-endings.js';
import type { OtherHerd } from './other-herd.js';
import { askArguments, forwardArguments } from './ssh-arguments.js';
import { SshProcess } from './ssh-process.js';

export interface HerdDeps extends ProtocolDeps, ProcessDeps {
  /** What is known of this herd. */
  herd: OtherHerd;
  /** Where forwarded sockets are. */
  socketFolder: string;
  /** The handshake is done, or the status of its servers was read again. */
  listed(isFirst: boolean): void;
  /** Its daemon reports an event about one of its servers. */
  event(event: FleetEvent): void;
  /** How long a request to its daemon took. */
  measured(ms: number): void;
}

const POLL_MS = 20;
const STDOUT_BYTES = 65_536;
/** For how long a connection that broke waits for the end of ssh, which knows why. Those to servers wait for the result. */
const REASON_MS = 300;

/** Connects to another herd. `on` gets everything that follows. */
export function openHerd(spec: HerdSpec, deps: HerdDeps, on: LinkEvents): Link {
  return new HerdLink(spec, deps, on);
}

/** Thrown where the connection cannot be opened, with the ending of the link. */
class NotOpened extends Error {
  readonly failed: Failed;

  constructor(failed: Failed) {
    super(failed.message);
    this.failed = failed;
  }
}

/**
 * The connection to the daemon of another herd: a process of ssh that forwards the socket of that daemon to this machine, or a
 * socket of this machine; and one control connection over it, which follows the servers of that herd. Calls do not pass here:
 * each server has another connection over the same socket.
 */
class HerdLink extends BaseLink {
  readonly #spec: HerdSpec;
  readonly #deps: HerdDeps;
  readonly #output: ServerOutput;
  #ssh: SshProcess | undefined;
  #peer: Peer | undefined;
  #local: string | undefined;
  readonly #refresh = coalesce(() => this.#readStatus(false).catch(() => undefined));

  constructor(spec: HerdSpec, deps: HerdDeps, on: LinkEvents) {
    super(spec, deps, on);
    this.#spec = spec;
    this.#deps = deps;
    this.#output = new ServerOutput(deps.clock, deps.redact, (source, text) => deps.log({ source, text }));
    deps.herd.begun();
    this.limitHandshake(spec.timeoutMs, () => this.#fail(tooSlow(spec)));
    this.#begin().catch((error: unknown) => {
      this.#fail(error instanceof NotOpened ? error.failed : notOpened(spec, deps.redact(messageOf(error))));
    });
  }

  get pids(): readonly number[] {
    const pid = this.#ssh?.pid;
    return pid === undefined ? [] : [pid];
  }

  /** Reads the status of all servers: what has changed without an event is seen with the next ping. */
  override async ping(timeoutMs: number): Promise<void> {
    const answered = await withTimeout(
      timeoutMs,
      this.#readStatus(false).then(() => true),
      this.#deps.clock,
    );
    if (answered) return;
    const { name } = this.#spec;
    throw new MCPTimeoutError(`${name}: its daemon did not answer in ${seconds(timeoutMs)}`, { sent: false });
  }

  /** A herd offers nothing: its servers do. */
  override async list(): Promise<JsonObject[]> {
    return [];
  }

  override watch(): Promise<Unwatch> {
    return Promise.reject(new MCPConnectionError(this.#isNoServer));
  }

  override renewLogLevel(): void {}

  close(from: StopStep = 'close'): void {
    this.decide({ kind: 'disconnected', reason: 'stopped', killed: false });
    this.session.seal();
    void this.#end(from === 'kill');
  }

  protected get isWritable(): boolean {
    return this.ending === undefined;
  }

  /** A request to the herd itself, which is no server. */
  write(line: string): boolean {
    const { id } = JSON.parse(line) as { id?: unknown };
    const error = { code: CODE.methodNotFound, message: this.#isNoServer };
    if (id !== undefined) queueMicrotask(() => this.session.deliverParsed({ jsonrpc: '2.0', id, error }));
    return true;
  }

  protected logNoise(): void {}

  get #isNoServer(): string {
    const { name } = this.#spec;
    return `${name} is a herd: call one of its servers, ${name}${HERD_SEPARATOR}NAME`;
  }

  async #begin(): Promise<void> {
    const { address, transport } = this.#spec;
    const path = transport === 'socket' ? address : await this.#forward();
    if (this.ending !== undefined) return;
    const peer = await this.#connect(path);
    if (this.ending !== undefined) {
      peer.destroy();
      return;
    }
    this.#peer = peer;
    const fleet = remoteFleet(peer);
    void peer.closed.then((reason) => this.#disconnected(reason));
    // before the first status is read: no change in between is missed
    peer.handle(CLOSING, (why) => this.#closing(why as Closing));
    const { daemon } = await this.#greet(peer);
    fleet.subscribe(['state', 'catalog'], (event) => this.#onEvent(event));
    const { herd, clock, listed } = this.#deps;
    herd.opened({ path, fleet }, dateOf(clock));
    await this.#readStatus(true);
    if (this.ending !== undefined) return;
    herd.wasShutDown = false;
    const serverInfo = { name: 'toolherd', version: daemon.version };
    this.open({
      protocolVersion: String(API_VERSION),
      serverInfo,
      capabilities: {},
      instructions: undefined,
    });
    listed(true);
  }

  /** Starts the daemon there where none runs, asks for its socket, and forwards that to this machine. */
  async #forward(): Promise<string> {
    const remote = await this.#askForSocket();
    const local = this.#prepareSocket();
    if (this.ending !== undefined) return local;
    this.#local = local;
    const process = this.#startSsh(forwardArguments(this.#spec, local, remote));
    let end: Awaited<SshProcess['exited']> | undefined;
    void process.exited.then((exit) => {
      end = exit;
      if (this.ending === undefined) this.#fail(this.#sshEnded('forward', exit));
    });
    // ssh prints nothing when it is ready: the socket is there
    while (this.ending === undefined && end === undefined && !isSocketAt(this.#deps.socketFolder, local))
      await sleep(this.#deps.clock, POLL_MS);
    return local;
  }

  async #askForSocket(): Promise<string> {
    const { herd } = this.#deps;
    let stdout = '';
    const process = this.#startSsh(askArguments(this.#spec, !herd.wasShutDown), (chunk) => {
      stdout = (stdout + chunk.toString()).slice(-STDOUT_BYTES);
    });
    const end = await process.exited;
    await process.gone;
    if (this.ending !== undefined) return '';
    if (end.code !== 0) throw new NotOpened(this.#sshEnded('ask', end));
    // a shell may print a greeting first
    const path = stdout.split('\n').findLast((line) => line.startsWith('/'));
    if (path === undefined) throw new NotOpened(noSocketPath(this.#spec));
    return path.trimEnd();
  }

  #startSsh(args: readonly string[], stdout: (chunk: Buffer) => void = () => undefined): SshProcess {
    this.#output.clearTails();
    const stderr = (chunk: Buffer) => this.#output.stderr(chunk);
    this.#ssh = new SshProcess(this.#spec.name, args, this.#deps, { stdout, stderr });
    return this.#ssh;
  }

  /** One socket a herd and daemon. Those of daemons that were killed are removed. */
  #prepareSocket(): string {
    const { socketFolder } = this.#deps;
    mkdirSync(socketFolder, { recursive: true, mode: 0o700 });
    for (const file of readdirSync(socketFolder)) {
      const pid = Number(/^(\d+)-/.exec(file)?.[1]);
      if (pid > 0 && pid !== process.pid && !isAlive(pid)) rmSync(join(socketFolder, file), { force: true });
    }
    const path = join(socketFolder, `${process.pid}-${this.#spec.name}.sock`);
    checkLength(path);
    rmSync(path, { force: true });
    return path;
  }

  async #connect(path: string): Promise<Peer> {
    try {
      return await connectSocket({ path, owner: 'any', clock: this.#deps.clock });
    } catch (error) {
      throw new NotOpened(noDaemon(this.#spec, path, messageOf(error), this.#deps.herd.wasShutDown));
    }
  }

  /** The daemon there learns the name and version of this program, and nothing of this herd. */
  async #greet(peer: Peer): Promise<Hello> {
    const { herd } = this.#deps;
    const client = { name: 'toolherd', version: VERSION };
    let hello: Hello;
    try {
      hello = (await peer.request('fleet/hello', { client, closing_notice: true })) as Hello;
    } catch (error) {
      const said = this.#lastWords();
      throw new NotOpened(
        noDaemon(this.#spec, this.#spec.address, said === '' ? messageOf(error) : said, herd.wasShutDown),
      );
    }
    const api = isObject(hello) ? Number(hello.api_version) : 0;
    if (api !== API_VERSION)
      throw new NotOpened(otherVersion(this.#spec, { version: String(hello?.daemon?.version), api }));
    if (hello.daemon.closing) throw new NotOpened(daemonLost(this.#spec, 'it is ending', herd.wasShutDown));
    return hello;
  }

  async #readStatus(isFirst: boolean): Promise<void> {
    const { herd, clock, measured, listed } = this.#deps;
    const { connection } = herd;
    if (connection === undefined) throw new MCPConnectionError(`${this.#spec.name}: ${herd.why}`);
    const askedAt = clock.now();
    const { servers } = await connection.fleet.status();
    if (connection !== herd.connection) return;
    measured(clock.now() - askedAt);
    herd.replace(servers.filter(this.#isOffered));
    if (!isFirst) listed(false);
  }

  /** Its own servers that the config wants. What other herds and nodes have is left out, so there are no loops. */
  readonly #isOffered = (status: ServerStatus): boolean => {
    const { name, agent, other_view, herd, elsewhere, transport, detail } = status;
    const isOwn = agent === null && other_view === undefined && herd === undefined && elsewhere === undefined;
    if (!isOwn || transport === 'ssh' || transport === 'socket' || detail === 'disabled') return false;
    const { allow, deny } = this.#spec.servers;
    return nameFilter(allow)(name) && !nameFilter(deny)(name);
  };

  #onEvent(event: FleetEvent): void {
    const { herd } = this.#deps;
    const known = herd.servers.get(event.server);
    if (known !== undefined && event.topic === 'state') {
      const { state, detail, incarnation, at: since } = event;
      herd.update([{ ...known, state, detail, incarnation, since }]);
      this.#deps.event(event);
    }
    // pids, restarts, errors; and servers that were added or removed
    this.#refresh();
  }

  #closing({ reason }: Closing): void {
    this.#deps.herd.wasShutDown = reason === 'shutdown';
  }

  /** The control connection ended: because ssh did, or because the daemon did. */
  async #disconnected(reason: string): Promise<void> {
    if (this.ending !== undefined || this.opened === undefined) return;
    if (this.#ssh !== undefined) await withTimeout(REASON_MS, this.#ssh.exited, this.#deps.clock);
    this.#fail(daemonLost(this.#spec, reason, this.#deps.herd.wasShutDown));
  }

  #sshEnded(step: 'ask' | 'forward', end: Awaited<SshProcess['exited']>): Failed {
    return sshEnded(this.#spec, step, end, this.#lastWords(), this.#deps.redact);
  }

  #lastWords(): string {
    this.#output.endLines();
    return this.#output.lastSince(0)?.text ?? '';
  }

  #fail(failed: Failed): void {
    if (!this.decide(failed)) return;
    this.#log('link', failed.message);
    void this.#end(false);
  }

  /** Connections to its servers fail first, with the reason; the link ends when nothing of ssh is left. */
  async #end(isUrgent: boolean): Promise<void> {
    const ending = this.ending!;
    const { herd, clock } = this.#deps;
    herd.lost(whyOf(ending, this.#spec), dateOf(clock), ending.kind === 'error');
    this.#peer?.destroy();
    this.#ssh?.stop(isUrgent);
    await this.#ssh?.gone;
    if (this.isOver) return;
    if (this.#local !== undefined) rmSync(this.#local, { force: true });
    this.session.close((sent) => endingError(this.#spec.name, ending, sent));
    this.driver.close();
    this.end(ending);
  }

  #log(source: LinkLog['source'], text: string): void {
    this.#deps.log({ source, text: this.#deps.redact(text) });
  }
}

function whyOf(ending: Ending, { name }: HerdSpec): string {
  if (ending.kind === 'error') return ending.message.replace(`${name}: `, '');
  return 'its connection was stopped';
}

function isSocketAt(folder: string, path: string): boolean {
  return readdirSync(folder).some((file) => join(folder, file) === path);
}
