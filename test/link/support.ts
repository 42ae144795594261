import { onTestFinished } from 'vitest';
import type { StdioSpec } from '../../src/config/fields/spec.js';
import type { Link, LinkEvents, LinkLog, Opened } from '../../src/link/link.js';
import { openStdio, type StdioDeps } from '../../src/link/stdio/link.js';
import type { Ending } from '../../src/machines/restart/ending.js';
import { procStat } from '../../src/processes/process-identity.js';
import { ProcessTable } from '../../src/processes/table.js';
import { systemClock } from '../../src/shared/clock.js';
import { Redactor } from '../../src/shared/secrets/redactor.js';

/** An open link, and everything it has reported. */
export interface RecordedLink {
  link: Link;
  /** Rejects when the link ends before. */
  opened: Promise<Opened>;
  ended: Promise<Ending>;
  endings: Ending[];
  logs: LinkLog[];
  notifications: { method: string; params: unknown }[];
  /** Resolves with the first log line that matches. */
  logged(pattern: RegExp): Promise<string>;
  /** Resolves with the params of the first notification of this method. */
  notified(method: string): Promise<unknown>;
  tool(name: string, args?: Record<string, unknown>): Promise<string>;
}

export interface OpenLink extends RecordedLink {
  table: ProcessTable;
}

export { fixture, specOf } from './spec.js';

/** Opens a stdio link that is killed at the end of the test. */
export function openLink(spec: StdioSpec, deps: Partial<StdioDeps> = {}): OpenLink {
  const table = deps.table ?? new ProcessTable({ daemonId: `test-${process.pid}`, clock: systemClock });
  const redact = (text: string) => Redactor.of(spec.env).redact(text);
  const recorded = recordLink((common, on) =>
    openStdio(spec, { ...common, env: process.env, redact, ...deps, table }, on),
  );
  return { ...recorded, table };
}

type CommonDeps = Pick<StdioDeps, 'clock' | 'clientInfo' | 'log'>;

/** Records what a link reports, and kills it at the end of the test. */
export function recordLink(open: (deps: CommonDeps, on: LinkEvents) => Link): RecordedLink {
  const opened = deferred<Opened>();
  const ended = deferred<Ending>();
  const logs = new Recorder<LinkLog>();
  const notifications = new Recorder<{ method: string; params: unknown }>();
  const endings: Ending[] = [];
  opened.promise.catch(() => undefined);
  const link = open(
    {
      clock: systemClock,
      clientInfo: { name: 'toolherd', version: '0.0.0' },
      log: (line) => logs.add(line),
    },
    {
      opened: opened.resolve,
      notification: (method, params) => notifications.add({ method, params }),
      ended: (ending) => {
        endings.push(ending);
        opened.reject(new Error(JSON.stringify(ending)));
        ended.resolve(ending);
      },
    },
  );
  onTestFinished(async () => {
    link.close('kill');
    await ended.promise;
  });
  return {
    link,
    opened: opened.promise,
    ended: ended.promise,
    endings,
    logs: logs.all,
    notifications: notifications.all,
    logged: async (pattern) => (await logs.first(({ text }) => pattern.test(text))).text,
    notified: async (method) => (await notifications.first((one) => one.method === method)).params,
    tool: async (name, args = {}) => textOf(await link.session.call('tools/call', { name, arguments: args })),
  };
}

/** Items as they come, and promises of those to come. */
class Recorder<T> {
  readonly all: T[] = [];
  readonly #waiting: { matches(item: T): boolean; resolve(item: T): void }[] = [];

  add(item: T): void {
    this.all.push(item);
    for (const { matches, resolve } of this.#waiting) if (matches(item)) resolve(item);
  }

  first(matches: (item: T) => boolean): Promise<T> {
    return new Promise((resolve) => {
      const item = this.all.find(matches);
      if (item === undefined) this.#waiting.push({ matches, resolve });
      else resolve(item);
    });
  }
}

export function deferred<T>() {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((take, refuse) => {
    resolve = take;
    reject = refuse;
  });
  return { promise, resolve, reject };
}

export function textOf(result: Record<string, unknown>): string {
  const { content } = result as { content: { text: string }[] };
  return content.map(({ text }) => text).join('\n');
}

/** Whether a process with this pid exists and is no zombie. */
export function alive(pid: number): boolean {
  if (process.platform === 'linux') return !['Z', 'X', undefined].includes(procStat(pid)?.state);
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The error a promise rejects with. */
export async function errorOf(promise: Promise<unknown>): Promise<Error & Record<string, unknown>> {
  const value: unknown = await promise.then(
    () => new Error('it did not reject'),
    (error: unknown) => error,
  );
  return value as Error & Record<string, unknown>;
}
