import { dateOf } from '../shared/clock.js';
import { codeOf, messageOf } from '../shared/errors.js';
import { seconds } from '../shared/text/seconds.js';
import type { LaunchEvents } from './entry.js';
import { codeIn, PackageError } from './errors.js';
import { remove } from './files.js';
import { holdLock } from './holder.js';
import { INSTALL_LIMIT_MS } from './limits.js';
import { type NpmDeps, type NpmEnd, type NpmRun, runNpm } from './npm.js';
import type { NpxCommand } from './npx-command.js';
import type { Installed, PackageStore, Request } from './package-store.js';

/** The npm that the entry's npx belongs to, and the environment that it would have had. */
export type NpmContext = Pick<NpmRun, 'program' | 'env' | 'server'>;

export interface InstallOrder extends Request {
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

interface Job {
  done: Promise<Installed>;
  listeners: Set<LaunchEvents>;
  /** The end of what npm wrote so far, for errors and for those who join late. */
  tail: Buffer;
  notes: string[];
  waiting: number;
  controller: AbortController;
}

const KEPT_BYTES = 16_384;
const UNHEARD: LaunchEvents = { stderr: () => undefined, note: () => undefined };

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

  join(order: InstallOrder, on: LaunchEvents = UNHEARD): Joined {
    const key = this.#store.keyOf(order);
    const job = this.#jobs.get(key) ?? this.#begin(key, order);
    job.waiting += 1;
    job.listeners.add(on);
    if (job.tail.length > 0) on.stderr(job.tail);
    for (const text of job.notes) on.note(text);
    let isHere = true;
    return {
      done: job.done,
      leave: () => {
        if (!isHere) return;
        isHere = false;
        job.listeners.delete(on);
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

  #begin(key: string, order: InstallOrder): Job {
    const job: Job = {
      done: Promise.resolve(undefined as never),
      listeners: new Set(),
      tail: Buffer.alloc(0),
      notes: [],
      waiting: 0,
      controller: new AbortController(),
    };
    const over = () => {
      if (this.#jobs.get(key) === job) this.#jobs.delete(key);
    };
    job.done = this.#install(order, job).finally(() => {
      over();
      this.#running.delete(job.done);
    });
    this.#running.add(job.done);
    // a cancelled installation may have no listener left
    job.done.catch(() => undefined);
    // one that was cancelled takes a moment to end, and must not be joined
    job.controller.signal.addEventListener('abort', over, { once: true });
    this.#jobs.set(key, job);
    return job;
  }

  async #install(order: InstallOrder, job: Job): Promise<Installed> {
    const { command } = order;
    const { signal } = job.controller;
    try {
      const release = await holdLock(this.#store.lockFile(this.#store.keyOf(order)), {
        clock: this.#deps.clock,
        signal,
        mostMs: this.#limitMs,
        onWait: (pid) =>
          note(job, `process ${pid} installs ${command.raw} at the moment: toolherd waits for it`),
        onTakeOver: (pid) =>
          note(
            job,
            `process ${pid} is stopped or hangs while it installs ${command.raw}: toolherd no longer waits for it; ` +
              `"kill -CONT ${pid}" continues a stopped process, "kill ${pid}" ends it`,
          ),
      });
      try {
        return this.#present(order) ?? (await this.#installNow(order, job));
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
  #present(order: InstallOrder): Installed | undefined {
    return order.isUpdate ? undefined : this.#store.find(order);
  }

  async #installNow(order: InstallOrder, job: Job): Promise<Installed> {
    const { command, npm } = order;
    const { signal } = job.controller;
    await this.#store.tidy();
    const temporary = this.#store.createTemporary();
    try {
      const end = await runNpm(this.#deps, {
        ...npm,
        args: installArgs(order),
        cwd: temporary.package,
        limitMs: this.#limitMs,
        signal,
        stderr: (chunk) => {
          job.tail = Buffer.concat([job.tail, chunk]).subarray(-KEPT_BYTES);
          for (const on of job.listeners) on.stderr(chunk);
        },
      });
      signal.throwIfAborted();
      const failure = failureOf(command, end, this.#limitMs, job.tail.toString('utf8'));
      if (failure !== undefined) throw failure;
      const installed = this.#store.keep(temporary.package, order);
      const { version, folder } = installed;
      const checkedAt = dateOf(this.#deps.clock);
      this.#store.remember(order, { version, folder, checkedAt, latest: version });
      return installed;
    } finally {
      await remove(temporary.folder);
    }
  }
}

function note(job: Job, text: string): void {
  job.notes.push(text);
  for (const on of job.listeners) on.note(text);
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

function failureOf(
  { raw }: NpxCommand,
  end: NpmEnd,
  limitMs: number,
  output: string,
): PackageError | undefined {
  if (end.code === 0 && end.error === undefined) return undefined;
  if (end.error !== undefined) {
    const why = `npm could not be started (${codeOf(end.error) ?? end.error.name})`;
    return new PackageError(`${raw} could not be installed`, { why, fix: 'see that "npm --version" works' });
  }
  const how = end.isLate
    ? `npm took longer than ${seconds(limitMs)}`
    : end.signal === null
      ? `npm exited with code ${end.code}${codeIn(output)}`
      : `npm was killed by ${end.signal}`;
  return new PackageError(`${raw} could not be installed: ${how}`, { output });
}

function fixOf(error: unknown, folder: string): string {
  const code = codeOf(error);
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return `make room on the disk of ${folder}, then start it again`;
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return `make ${folder} writable for you`;
  return `see that ${folder} can be written, or set 'runner: plain'`;
}
