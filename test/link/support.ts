import { onTestFinished } from 'vitest';
import type { StdioSpec } from '../../src/config/schema/spec.js';
import { Redactor } from '../../src/config/variables/redactor.js';
import type { Link, LinkLog, Opened } from '../../src/link/link.js';
import { ProcessTable } from '../../src/link/process/table.js';
import { openStdio, type StdioDeps } from '../../src/link/stdio/link.js';
import type { Ending } from '../../src/machines/ending.js';
import { systemClock } from '../../src/shared/clock.js';
import { procStat } from '../../src/shared/process-identity.js';

export interface OpenLink {
  link: Link;
  /** Rejects when the link ends before. */
  opened: Promise<Opened>;
  ended: Promise<Ending>;
  endings: Ending[];
  logs: LinkLog[];
  notifications: { method: string; params: unknown }[];
  table: ProcessTable;
  /** Resolves with the first log line that matches. */
  logged(pattern: RegExp): Promise<string>;
  tool(name: string, args?: Record<string, unknown>): Promise<string>;
}

export { fixture, specOf } from './spec.js';

/** Opens a link and sees to it that nothing of it outlives the test. */
export function openLink(spec: StdioSpec, deps: Partial<StdioDeps> = {}): OpenLink {
  const table = deps.table ?? new ProcessTable({ daemonId: `test-${process.pid}`, clock: systemClock });
  const opened = deferred<Opened>();
  const ended = deferred<Ending>();
  const waiting: { pattern: RegExp; resolve: (text: string) => void }[] = [];
  const one: Omit<OpenLink, 'link'> = {
    table,
    opened: opened.promise,
    ended: ended.promise,
    endings: [],
    logs: [],
    notifications: [],
    logged: (pattern) =>
      new Promise((resolve) => {
        const line = one.logs.find(({ text }) => pattern.test(text));
        if (line === undefined) waiting.push({ pattern, resolve });
        else resolve(line.text);
      }),
    tool: async (name, args = {}) => textOf(await link.session.call('tools/call', { name, arguments: args })),
  };
  opened.promise.catch(() => undefined);
  const link = openStdio(
    spec,
    {
      clock: systemClock,
      env: process.env,
      clientInfo: { name: 'toolherd', version: '0.0.0' },
      redact: (text) => Redactor.of(spec.env).redact(text),
      log: (line) => {
        one.logs.push(line);
        for (const { pattern, resolve } of waiting) if (pattern.test(line.text)) resolve(line.text);
      },
      ...deps,
      table,
    },
    {
      opened: opened.resolve,
      notification: (method, params) => one.notifications.push({ method, params }),
      ended: (ending) => {
        one.endings.push(ending);
        opened.reject(new Error(JSON.stringify(ending)));
        ended.resolve(ending);
      },
    },
  );
  onTestFinished(async () => {
    link.close('kill');
    await ended.promise;
  });
  return { ...one, link };
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

/** Whether a process with this pid is there and not merely waiting to be collected. */
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
