import type { Unusable } from '../config/fields/spec.js';
import type { Loaded } from '../config/load.js';
import { ConfigError } from '../config/parse/problem.js';
import { AgentFileNotAllowedError } from '../config/trust/trust.js';
import type { AgentFiles } from '../ipc/server/fleet-provider.js';
import type { Clock } from '../shared/clock.js';
import { messageOf } from '../shared/errors.js';
import { seconds } from '../shared/text/seconds.js';
import { shellWord } from '../shared/text/shell-word.js';
import type { HerdView } from '../supervisor/herd/herd-view.js';

/** Why the servers of an agent's file must not run. */
export type Withdrawal = Extract<Unusable, { detail: 'not_allowed' }>;

export interface AgentFileOptions {
  file: string;
  /** Which files its connections may name. A reload applies the same rule. */
  files: AgentFiles;
  view: HerdView;
  loaded: Loaded;
  clock: Clock;
  /** How long its servers keep running after its last connection has ended. */
  lingerMs: number;
  log(text: string): void;
  /** The file stayed missing: it is read once more. */
  onOverdue(): void;
  /** No connection uses it any more, and its servers have lingered. */
  onUnused(): void;
}

/** `git checkout`, `stow` and editors remove a file and write it again within this time. */
export const MISSING_GRACE_MS = 3000;

/**
 * Whether the servers of a file may run. `missing`: the file cannot be read; its servers run until the timer fires.
 * `overdue`: the timer has fired. `withdrawn`: the user revoked the file, or it stayed missing; `status` lists its
 * servers, and they do not run.
 */
type Standing = { is: 'in use' | 'overdue' | 'withdrawn' } | { is: 'missing'; timer: unknown };

/** One agent's file: its view of the herd, its connections, and whether its servers may run. */
export class AgentFile {
  readonly file: string;
  readonly files: AgentFiles;
  readonly view: HerdView;
  /** The config that its view has. */
  loaded: Loaded;
  readonly #options: AgentFileOptions;
  #connections = 0;
  #standing: Standing = { is: 'in use' };
  #lingerTimer: unknown;

  constructor(options: AgentFileOptions) {
    this.file = options.file;
    this.files = options.files;
    this.view = options.view;
    this.loaded = options.loaded;
    this.#options = options;
  }

  /** A withdrawn file is kept only while connections use it, since the file may be restored. */
  get isOver(): boolean {
    return this.#standing.is === 'withdrawn' && this.#connections === 0;
  }

  connected(): void {
    this.#connections += 1;
    this.#options.clock.clearTimeout(this.#lingerTimer);
  }

  disconnected(): void {
    this.#connections -= 1;
    if (this.#connections > 0) return;
    const { clock, lingerMs, onUnused } = this.#options;
    if (this.isOver) onUnused();
    else this.#lingerTimer = clock.setTimeout(onUnused, lingerMs);
  }

  /** The file was read, and its servers may run. */
  present(): void {
    this.#become({ is: 'in use' });
  }

  /** The file cannot be read. Returns why its servers must stop; undefined: they keep running. */
  lost(why: string): Withdrawal | undefined {
    const { clock, log } = this.#options;
    const { is } = this.#standing;
    if (is === 'missing') return undefined;
    if (is === 'in use') {
      log(`${why}: its servers are stopped unless it is back in ${seconds(MISSING_GRACE_MS)}`);
      this.#become({ is: 'missing', timer: clock.setTimeout(() => this.#overdue(), MISSING_GRACE_MS) });
      return undefined;
    }
    if (is === 'overdue') log(`${why}: its servers are stopped`);
    this.#become({ is: 'withdrawn' });
    const fix = `restore ${shellWord(this.file)}; its servers come back with it`;
    return { detail: 'not_allowed', why, fix };
  }

  /** The file is there, and cannot be used as it is. Returns why its servers must stop; undefined: they keep running. */
  refused(error: unknown): Withdrawal | undefined {
    const { file } = this;
    this.#options.log(`${file} was not applied: ${messageOf(error)}`);
    const isRevoked = error instanceof AgentFileNotAllowedError && error.reason === 'never';
    if (!isRevoked && this.#standing.is !== 'withdrawn') {
      this.#become({ is: 'in use' });
      return undefined;
    }
    this.#become({ is: 'withdrawn' });
    if (!(error instanceof AgentFileNotAllowedError)) {
      const wrong = error instanceof ConfigError ? (error.problems[0]?.file ?? file) : file;
      const why = `${file} is back, but could not be applied`;
      return { detail: 'not_allowed', why, fix: `toolherd validate ${shellWord(wrong)}` };
    }
    const why = isRevoked ? `${file} was revoked` : error.message;
    return { detail: 'not_allowed', why, fix: `toolherd allow ${shellWord(file)}` };
  }

  close(): void {
    this.#options.clock.clearTimeout(this.#lingerTimer);
    this.#become({ is: 'withdrawn' });
    this.view.close();
  }

  #overdue(): void {
    this.#become({ is: 'overdue' });
    this.#options.onOverdue();
  }

  #become(standing: Standing): void {
    if (this.#standing.is === 'missing') this.#options.clock.clearTimeout(this.#standing.timer);
    this.#standing = standing;
  }
}
