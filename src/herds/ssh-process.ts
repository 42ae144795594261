import { homedir } from 'node:os';
import { type ProcessDeps, ServerProcess } from '../link/stdio/server-process.js';
import type { Environment } from '../shared/environment.js';

/** How ssh ended. `failure`: it could not be started. */
export interface SshEnd {
  code: number | null;
  signal: string | null;
  failure?: Error;
}

export interface SshEvents {
  stdout(chunk: Buffer): void;
  stderr(chunk: Buffer): void;
}

/** What ssh finds the agent and the tickets of its user by. */
const VARIABLES = ['SSH_AUTH_SOCK', 'SSH_AGENT_PID', 'KRB5CCNAME', 'XDG_RUNTIME_DIR'] as const;
/** Time for ssh between TERM and KILL. */
const TERM_MS = 2000;

/** One process of ssh, in the table and the ledger like the process of a server, so that none outlives the daemon. */
export class SshProcess {
  /** Resolves when ssh has exited and its output was read. */
  readonly exited: Promise<SshEnd>;
  /** Resolves when nothing of it is left. */
  readonly gone: Promise<void>;
  readonly #process: ServerProcess;

  constructor(name: string, args: readonly string[], deps: ProcessDeps, on: SshEvents) {
    let exited: (end: SshEnd) => void = () => undefined;
    let gone: () => void = () => undefined;
    this.exited = new Promise((resolve) => {
      exited = resolve;
    });
    this.gone = new Promise((resolve) => {
      gone = resolve;
    });
    const spec = {
      ...{ name, command: 'ssh', args, cwd: homedir(), env: variablesOf(deps.env), config: undefined },
      ...{ encoding: 'utf-8', stop: { closeMs: 0, termMs: TERM_MS } },
    };
    const ended = (end: SshEnd) => {
      exited(end);
      gone();
    };
    this.#process = new ServerProcess(spec, deps, {
      failed: (failure) => ended({ code: null, signal: null, failure }),
      stdout: on.stdout,
      stderr: on.stderr,
      drained: () => undefined,
      pipeClosed: () => undefined,
      died: (exit) => exited(exit),
      gone: () => ended({ code: null, signal: null }),
    });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  stop(isUrgent: boolean): void {
    this.#process.stop(isUrgent ? 'kill' : 'term');
  }
}

function variablesOf(environment: Environment): Record<string, string> {
  const found = VARIABLES.map((name) => [name, environment[name]] as const);
  return Object.fromEntries(found.filter((pair): pair is [(typeof VARIABLES)[number], string] => !!pair[1]));
}
