import { onTestFinished } from 'vitest';
import type { HttpSpec, RemoteSpec } from '../../../src/config/schema/spec.js';
import { Redactor } from '../../../src/config/variables/redactor.js';
import type { Link, LinkLog, Opened } from '../../../src/link/link.js';
import { openRemote, type RemoteDeps } from '../../../src/link/remote/link.js';
import type { Ending } from '../../../src/machines/ending.js';
import { systemClock } from '../../../src/shared/clock.js';
import type { Remote } from '../../support/remote-servers.js';
import { specOf } from '../spec.js';
import { deferred, textOf } from '../support.js';

export { deferred, errorOf, textOf } from '../support.js';

/** HTTP has every field that one of them has. */
type Changes = Partial<Omit<HttpSpec, 'transport'>>;

/** A spec with every default filled in. */
export function remoteSpec(transport: Remote, url: string, changes: Changes = {}): RemoteSpec {
  const { command, args, cwd, encoding, startTimeoutMs, lifecycle, spares, stop, maxRss, ...common } =
    specOf('remote');
  const remote = { url, headers: {}, timeoutMs: 10_000, sseReadTimeoutMs: 300_000, terminateOnClose: true };
  return { ...common, name: 'far', ...remote, ...changes, transport } as RemoteSpec;
}

export interface OpenRemote {
  link: Link;
  /** Rejects when the link ends before. */
  opened: Promise<Opened>;
  ended: Promise<Ending>;
  endings: Ending[];
  logs: LinkLog[];
  notifications: { method: string; params: unknown }[];
  notified(method: string): Promise<unknown>;
  tool(name: string, args?: Record<string, unknown>): Promise<string>;
}

/** Opens a link and sees to it that nothing of it outlives the test. */
export function open(spec: RemoteSpec, deps: Partial<RemoteDeps> = {}): OpenRemote {
  const opened = deferred<Opened>();
  const ended = deferred<Ending>();
  const waiting: { method: string; resolve(params: unknown): void }[] = [];
  const one: Omit<OpenRemote, 'link'> = {
    opened: opened.promise,
    ended: ended.promise,
    endings: [],
    logs: [],
    notifications: [],
    notified: (method) =>
      new Promise((resolve) => {
        const seen = one.notifications.find((notification) => notification.method === method);
        if (seen === undefined) waiting.push({ method, resolve });
        else resolve(seen.params);
      }),
    tool: async (name, args = {}) => textOf(await link.session.call('tools/call', { name, arguments: args })),
  };
  opened.promise.catch(() => undefined);
  const link = openRemote(
    spec,
    {
      clock: systemClock,
      clientInfo: { name: 'toolherd', version: '0.0.0' },
      redact: (text) => Redactor.of(spec.headers).redact(text),
      log: (line) => one.logs.push(line),
      ...deps,
    },
    {
      opened: opened.resolve,
      notification: (method, params) => {
        one.notifications.push({ method, params });
        for (const each of waiting) if (each.method === method) each.resolve(params);
      },
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

/** How long something takes, in milliseconds. */
export async function timed<T>(what: Promise<T>): Promise<[number, T]> {
  const began = performance.now();
  const value = await what;
  return [performance.now() - began, value];
}
