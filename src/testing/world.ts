/**
 * The simulated world: processes, gate, permits and time for the machines, without a single process. Links follow a
 * script; the test makes all other reports with `say`.
 *
 * The world knows the truth that the machines learn by reports (which process lives, which handshake is done). `check`
 * compares, and throws with the name of the invariant that is broken. Call it after every step.
 */
import { type CallbackLogicFunction, type EventObject, fromCallback, type SnapshotFrom } from 'xstate';
import { keeperMachine } from '../machines/keeper.js';
import type { LinkInput, LinkOrder, LinkReport } from '../machines/link-protocol.js';
import type { PermitInput, PermitReport } from '../machines/permit.js';
import { type ServerMachine, serverMachine } from '../machines/server.js';
import { VirtualClock } from './clock.js';
import { obedient, type Script } from './script.js';
import { SimulatedLink, type SimulatedProcess } from './simulated-link.js';

type PermitScope = Parameters<CallbackLogicFunction<EventObject, PermitReport, PermitInput>>[0];
type LinkScope = Parameters<CallbackLogicFunction<LinkOrder, LinkReport, LinkInput>>[0];

export interface WorldOptions {
  script?: Script;
  /** False: a permit is granted only by `grant()`. */
  permitsAreFree?: boolean;
  /** How many processes may live at once. */
  replicas?: number;
}

export class SimulatedWorld {
  readonly clock = new VirtualClock();
  readonly processes: SimulatedProcess[] = [];
  readonly links: SimulatedLink[] = [];
  script: Script;
  /** The incarnation for which the gate is open. */
  gate: number | undefined;
  /** What `idleForMs` answers. */
  idleForMs = 0;
  readonly #options: Required<Omit<WorldOptions, 'script'>>;
  readonly #permits = new Set<{ grant: () => void; break: () => void }>();
  #breaksServer = false;
  readonly #broken: string[] = [];

  constructor({ script = () => obedient, permitsAreFree = true, replicas = 1 }: WorldOptions = {}) {
    this.script = script;
    this.#options = { permitsAreFree, replicas };
  }

  get alive(): SimulatedProcess[] {
    return this.processes.filter((one) => one.alive);
  }

  process(incarnation: number): SimulatedProcess | undefined {
    return this.processes.find((one) => one.incarnation === incarnation);
  }

  /** The newest link makes this report, and the world becomes what it says. */
  say(report: LinkReport): void {
    this.links.at(-1)?.say(report);
  }

  /** The newest link throws, as no link may. */
  breakLink(): void {
    this.links.at(-1)?.break();
  }

  /** Grants every permit that is asked for. */
  grant(): void {
    for (const permit of this.#permits) permit.grant();
  }

  /** Every permit throws, as no permit may. */
  breakPermit(): void {
    for (const permit of this.#permits) permit.break();
  }

  /** Asked for, granted or not, and not given back. */
  get permitsHeld(): number {
    return this.#permits.size;
  }

  /** The newest incarnation throws in an action, as no action may. */
  breakServer(): void {
    this.#breaksServer = true;
    this.breakLink();
    this.#breaksServer = false;
  }

  /** A new world in place of this one: the actors of the old one are to be left alone. Cheaper than building one. */
  reset(): void {
    this.clock.reset();
    this.processes.length = 0;
    this.links.length = 0;
    this.gate = undefined;
    this.idleForMs = 0;
    this.#permits.clear();
    this.#broken.length = 0;
  }

  /** Throws where the world is not as the invariants want it. `server` is the incarnation to look at for I5. */
  check(server?: SnapshotFrom<ServerMachine>): void {
    if (server && server.status !== 'active' && this.process(server.context.incarnation)?.alive) {
      this.#broken.push(`I5: ${server.status}, but process ${server.context.incarnation} lives`);
    }
    const alive = this.alive.map((one) => one.incarnation);
    if (alive.length > this.#options.replicas) this.#broken.push(`I1: processes ${alive} live at once`);
    const pointed = this.gate === undefined ? undefined : this.process(this.gate);
    if (this.gate !== undefined && !pointed?.handshakeDone) {
      this.#broken.push(`I4: the gate is open, the handshake of ${this.gate} is not done`);
    }
    if (pointed && !pointed.alive) this.#broken.push(`I4: the gate is open, process ${this.gate} is gone`);
    if (this.#broken.length > 0) throw new Error(this.#broken.join('\n'));
  }

  /** The server machine, living in this world. */
  readonly server = serverMachine.provide({
    actors: { link: fromCallback<LinkOrder, LinkInput>((scope) => this.#link(scope)) },
    actions: {
      openGate: ({ context }) => {
        this.gate = context.incarnation;
      },
      sealGate: ({ context }) => {
        if (this.#breaksServer) throw new Error('the incarnation broke');
        this.#seal(context.incarnation);
      },
      reap: ({ context }) => {
        if (this.#breaksServer) throw new Error('the incarnation broke');
        this.#kill(context.incarnation);
      },
    },
  });

  /** The keeper, living in this world. */
  readonly keeper = keeperMachine.provide({
    actors: {
      server: this.server,
      permit: fromCallback<EventObject, PermitInput>((scope) => this.#permit(scope)),
    },
    actions: {
      reap: ({ context }) => {
        this.#seal(context.incarnation);
        this.#kill(context.incarnation);
      },
    },
  });

  #link(scope: LinkScope) {
    const link = new SimulatedLink(
      {
        clock: this.clock,
        behaviour: (incarnation) => this.script(incarnation),
        open: (incarnation) => this.#open(incarnation),
        process: (incarnation) => this.process(incarnation),
        lawBroken: (law) => this.#broken.push(law),
      },
      scope,
    );
    this.links.push(link);
    return () => link.dispose();
  }

  #open(incarnation: number): void {
    this.processes.push({ incarnation, openedAt: this.clock.now(), alive: true, handshakeDone: false });
    // Checked here as well: a second process that lives only for a moment breaks the law too.
    if (this.alive.length > this.#options.replicas)
      this.#broken.push(`I1: ${incarnation} opened beside another`);
  }

  #seal(incarnation: number): void {
    if (this.gate === incarnation) this.gate = undefined;
  }

  #kill(incarnation: number): void {
    const process = this.process(incarnation);
    if (process) process.alive = false;
  }

  #permit({ sendBack, receive, self }: PermitScope) {
    const permit = {
      grant: () => sendBack({ type: 'permit.granted' }),
      break: () => self.send({ type: 'break' }),
    };
    receive(() => {
      this.#permits.delete(permit);
      throw new Error('the permit broke');
    });
    this.#permits.add(permit);
    if (this.#options.permitsAreFree) permit.grant();
    return () => this.#permits.delete(permit);
  }
}
