import { dateOf } from '../shared/clock.js';
import { codeOf, messageOf } from '../shared/errors.js';
import { seconds } from '../shared/text/seconds.js';
import { PackageError } from './errors.js';
import { holdLock } from './holder.js';
import { INSTALL_LIMIT_MS } from './limits.js';
import { type NpmDeps, type NpmEnd, type NpmRun, runNpm } from './npm.js';
import type { NpxCommand } from './npx-command.js';
import { type Installed, type PackageStore, remove } from './package-store.js';

/** The npm that the entry's npx belongs to, and the environment that it would have had. */
export type NpmContext = Pick<NpmRun, 'program' | 'env' | 'server'>;

export interface InstallOrder {
  command: NpxCommand;
  key: string;
  influence: string;
  npm: NpmContext;
  runsScripts: boolean;
  /** Also where a version is installed already. */
  isUpdate: boolean;
}

export interface Joined {
  done: Promise<Installed>;
  /** The last one to leave cancels the installation. */
  leave(): void;
}

type Stderr = (chunk: Buffer) => void;

interface Job {
  done: Promise<Installed>;
  listeners: Set<Stderr>;
  /** The end of what npm wrote so far, for those who join late. */
  tail: Buffer;
  waiting: number;
  controller: AbortController;
}

const KEPT_BYTES = 16_384;

/** Installs packages with npm. Two orders for the same at the same time are one installation, also of two daemons. */
export class Installer {
  readonly #store: PackageStore;
  readonly #deps: NpmDeps;
  readonly #limitMs: number;
  readonly #jobs = new Map<string, Job>();
  /** With those that were cancelled and have not ended yet. */
  readonly #running = new Set<Promise<Installed>>();

  constructor(store: PackageStore, deps: NpmDeps, limitMs = INSTALL_LIMIT_MS) {
    this.#store = store;
    this.#deps = deps;
    this.#limitMs = limitMs;
  }

  join(order: InstallOrder, stderr: Stderr = () => undefined): Joined {
    const job = this.#jobs.get(order.key) ?? this.#begin(order);
    job.waiting += 1;
    job.listeners.add(stderr);
    if (job.tail.length > 0) stderr(job.tail);
    let isHere = true;
    return {
      done: job.done,
      leave: () => {
        if (!isHere) return;
        isHere = false;
        job.listeners.delete(stderr);
        job.waiting -= 1;
        if (job.waiting === 0) job.controller.abort();
      },
    };
  }

  /** Kills every npm that installs. Resolves when nothing of them is left. */
  async close(): Promise<void> {
    for (const { controller } of this.#jobs.values()) controller.abort();
    await Promise.allSettled(this.#running);
  }

  #begin(order: InstallOrder): Job {
    const job: Job = {
      done: Promise.resolve(undefined as never),
      listeners: new Set(),
      tail: Buffer.alloc(0),
      waiting: 0,
      controller: new AbortController(),
    };
    const stderr = (chunk: Buffer) => {
      job.tail = Buffer.concat([job.tail, chunk]).subarray(-KEPT_BYTES);
      for (const listener of job.listeners) listener(chunk);
    };
    const over = () => {
      if (this.#jobs.get(order.key) === job) this.#jobs.delete(order.key);
    };
    job.done = this.#install(order, job.controller.signal, stderr).finally(() => {
      over();
      this.#running.delete(job.done);
    });
    this.#running.add(job.done);
    // a cancelled installation may have no listener left
    job.done.catch(() => undefined);
    // one that was cancelled takes a moment to end, and must not be joined
    job.controller.signal.addEventListener('abort', over, { once: true });
    this.#jobs.set(order.key, job);
    return job;
  }

  async #install(order: InstallOrder, signal: AbortSignal, stderr: Stderr): Promise<Installed> {
    const { command, key } = order;
    try {
      const release = await holdLock(this.#store.lockFile(key), this.#deps.clock, signal);
      try {
        return this.#present(order) ?? (await this.#installNow(order, signal, stderr));
      } finally {
        release();
      }
    } catch (error) {
      if (error instanceof PackageError || signal.aborted) throw error;
      throw new PackageError(`${command.raw} could not be installed`, {
        why: `${messageOf(error)}; nothing of it is used`,
        fix: fixOf(error, this.#store.folder),
        cause: error,
      });
    }
  }

  /** Another daemon may have installed it while this one waited for the lock. */
  #present({ key, isUpdate }: InstallOrder): Installed | undefined {
    const resolved = isUpdate ? undefined : this.#store.resolved(key);
    return resolved && this.#store.installed(resolved);
  }

  async #installNow(order: InstallOrder, signal: AbortSignal, stderr: Stderr): Promise<Installed> {
    const { command, key, influence, npm } = order;
    await this.#store.tidy();
    const temporary = this.#store.createTemporary();
    try {
      const end = await runNpm(this.#deps, {
        ...npm,
        args: installArgs(order),
        cwd: temporary.package,
        limitMs: this.#limitMs,
        signal,
        stderr,
      });
      signal.throwIfAborted();
      const failure = failureOf(command, end, this.#limitMs);
      if (failure !== undefined) throw failure;
      const installed = this.#store.keep(temporary.package, command, influence);
      const { version, folder } = installed;
      const checkedAt = dateOf(this.#deps.clock);
      this.#store.remember(key, command, { version, folder, checkedAt, latest: version });
      return installed;
    } finally {
      await remove(temporary.folder);
    }
  }
}

/**
 * Settings of the user that would put the package elsewhere, or write no lock file, are overridden. Everything else
 * (registry, login, proxy, cache) is as npx would have it.
 */
function installArgs({ command, runsScripts }: InstallOrder): string[] {
  return [
    'install',
    command.raw,
    // without --prefix, which would hide the settings in the npmrc of npm's own prefix: npm installs where it runs
    ...['--no-global', '--location=project', '--no-dry-run'],
    ...['--save', '--save-exact', '--package-lock', '--install-strategy=hoisted'],
    ...['--no-audit', '--no-fund', '--no-progress', '--no-update-notifier'],
    // as npx: a cached answer is not enough to say what is the latest
    ...(command.kind === 'exact' ? [] : ['--prefer-online']),
    ...(runsScripts ? [] : ['--ignore-scripts']),
  ];
}

function failureOf({ raw }: NpxCommand, end: NpmEnd, limitMs: number): PackageError | undefined {
  if (end.code === 0 && end.error === undefined) return undefined;
  if (end.error !== undefined) {
    const why = `npm could not be started (${codeOf(end.error) ?? end.error.name})`;
    return new PackageError(`${raw} could not be installed`, { why, fix: 'see that "npm --version" works' });
  }
  const how = end.isLate
    ? `npm took longer than ${seconds(limitMs)}`
    : end.signal === null
      ? `npm exited with code ${end.code}`
      : `npm was killed by ${end.signal}`;
  return new PackageError(`${raw} could not be installed: ${how}`, { isOfNpm: true });
}

function fixOf(error: unknown, folder: string): string {
  const code = codeOf(error);
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return `make room on the disk of ${folder}, then start it again`;
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return `make ${folder} writable for you`;
  return `see that ${folder} can be written, or set 'runner: plain'`;
}
