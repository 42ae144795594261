import { computed, signal } from '@preact/signals';
import type { Closing, FleetEvent, FleetStatus, StateEvent, Topic } from '../../fleet/fleet.js';
import type { Hello } from '../../fleet/hello.js';
import { Connection, type LinkState, type RequestOptions } from './connection.js';
import { withEvents } from './reduce.js';
import { Batch } from './ring.js';

/** A value and when the daemon gave it (ms). */
export interface Stamped<Value> {
  value: Value;
  at: number;
}

/** Of one batch. A page that gets more asks for everything anew. */
const MAX_PENDING = 5000;
/** Between two batches: a thousand events a second are ten drawings, and the first event is drawn in the next frame. */
const BATCH_MS = 100;
/** In a tab that is not seen. */
const HIDDEN_BATCH_MS = 250;
const STATUS_EVERY_MS = 2000;
/** Several events become one request. */
const STATUS_SOON_MS = 150;
/** A page that is too slow for the events would be slower still if it asked for everything each time. */
const ANEW_MS = 1000;
/** Of every page. Calls and logs come only to the pages that show them: a busy herd has a thousand a second. */
const BASE_TOPICS: readonly Topic[] = ['state', 'catalog'];

/** Whether the page hears of the daemon. Anything shown while it is not `open` is old. */
export const link = signal<LinkState>({ kind: 'connecting', since: Date.now() });
export const isLive = computed(() => link.value.kind === 'open');
/** A change means that everything has to be fetched again: after each connection, and where events were lost. */
export const epoch = signal(0);
export const status = signal<Stamped<FleetStatus> | null>(null);
/** Set while the daemon says that it ends. */
export const closing = signal<Closing | null>(null);
/** The present second. */
export const clockTime = signal(Date.now());
/** The present second, for texts such as `12s ago`. Without the daemon, when the page last heard of it: nothing grows older. */
export const now = signal(Date.now());

type Listener = (events: readonly FleetEvent[]) => void;
const listeners = new Set<Listener>();

/** Hears of all events of a batch together. Returns the function that ends it. */
export function onEvents(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

let connection: Connection | undefined;

/** A request to the daemon: any `fleet/*` or `page/*` method. Rejects with `FleetError`. */
export function request<Result>(
  method: string,
  params: object = {},
  options: RequestOptions = {},
): Promise<Result> {
  if (connection === undefined) return Promise.reject(new Error('the page has no connection'));
  return connection.request<Result>(method, params, options);
}

export function retryNow(): void {
  connection?.retryNow();
}

let batchedAt = 0;

const nextBatch = (run: () => void): void => {
  // a hidden tab paints no frames
  if (document.hidden) return void setTimeout(run, HIDDEN_BATCH_MS);
  const waitMs = Math.max(0, batchedAt + BATCH_MS - performance.now());
  setTimeout(() => requestAnimationFrame(run), waitMs);
};

const batch = new Batch<FleetEvent>(MAX_PENDING, nextBatch, (events, dropped) => {
  batchedAt = performance.now();
  if (dropped > 0) fetchAnew();
  const states = events.filter((event): event is StateEvent => event.topic === 'state');
  if (status.value !== null && states.length > 0)
    status.value = { ...status.value, value: withEvents(status.value.value, states) };
  for (const listen of listeners) listen(events);
  if (events.some(({ topic }) => topic === 'state' || topic === 'catalog')) refreshSoon();
});

let soon: ReturnType<typeof setTimeout> | undefined;

/** Fetches the status within STATUS_SOON_MS, once for many calls. */
export function refreshSoon(): void {
  soon ??= setTimeout(() => void refreshStatus(), STATUS_SOON_MS);
}

let isAskingAnew = false;

/** Events were lost: what is shown may be wrong. */
function fetchAnew(): void {
  if (isAskingAnew) return;
  isAskingAnew = true;
  setTimeout(() => {
    isAskingAnew = false;
    epoch.value += 1;
    refreshSoon();
  }, ANEW_MS);
}

let isFetching = false;

/** Fetches the status; a request that fails leaves the old one, with its time. */
export async function refreshStatus(): Promise<void> {
  clearTimeout(soon);
  soon = undefined;
  if (isFetching || !isLive.value) return;
  isFetching = true;
  try {
    const value = await request<FleetStatus>('fleet/status');
    status.value = { value, at: Date.now() };
  } catch {
    // `link` says that the daemon is lost, and the next tick asks again
  } finally {
    isFetching = false;
  }
}

/** Opens the connection and keeps the store up to date for as long as the page is open. */
export function startStore(url: string): void {
  connection = new Connection({
    open: () => new WebSocket(url),
    onState: (state) => {
      const wasLive = isLive.value;
      link.value = state;
      tick();
      if (!wasLive && state.kind === 'open') void refreshAll();
    },
    onNotification: (method, params) => {
      if (method === 'fleet/event') batch.add(params as unknown as FleetEvent);
      else if (method === 'fleet/dropped') fetchAnew();
      else if (method === 'fleet/closing') closing.value = params as unknown as Closing;
    },
    explain: () => whyRefused(url),
  });
  setInterval(tick, 1000);
  setInterval(() => !document.hidden && void refreshStatus(), STATUS_EVERY_MS);
  document.addEventListener('visibilitychange', () => {
    tick();
    if (!document.hidden) void refreshStatus();
  });
}

function tick(): void {
  clockTime.value = Date.now();
  now.value = link.value.kind === 'lost' ? link.value.since : clockTime.value;
}

/** A page whose daemon was replaced has a cookie that the new daemon does not know. */
async function whyRefused(url: string): Promise<string | undefined> {
  try {
    const { ok } = await fetch(url.replace(/^ws/, 'http').replace(/[^/]*$/, ''), { cache: 'no-store' });
    return ok ? undefined : 'this page is no longer valid: run "toolherd ui" for a new one';
  } catch {
    return undefined;
  }
}

async function refreshAll(): Promise<void> {
  try {
    // only a new connection may have a daemon that does not end: a status that was made before the notice may come after it
    const params = { client: { name: 'toolherd page' }, closing_notice: true };
    const { daemon } = await request<Hello>('fleet/hello', params);
    closing.value = daemon.closing ?? null;
    await request('fleet/subscribe', { topics: BASE_TOPICS });
    await Promise.all([followLogs(), askForCalls()]);
  } catch {
    // the connection was lost again
  }
  epoch.value += 1;
  await refreshStatus();
}

let callFollowers = 0;

/** Calls arrive at `onEvents` until the returned function is called. */
export function followCalls(): () => void {
  callFollowers += 1;
  void askForCalls();
  return () => {
    callFollowers -= 1;
    void askForCalls();
  };
}

async function askForCalls(): Promise<void> {
  if (!isLive.value) return;
  try {
    await request(callFollowers === 0 ? 'fleet/unsubscribe' : 'fleet/subscribe', { topics: ['call'] });
  } catch {
    // `refreshAll` subscribes again
  }
}

/** Which servers' logs parts of the page follow, and how many parts follow each. */
const followed = new Map<string, number>();

/** The log lines of a server arrive at `onEvents` until the returned function is called. */
export function followLog(server: string): () => void {
  followed.set(server, (followed.get(server) ?? 0) + 1);
  void followLogs();
  return () => {
    const count = (followed.get(server) ?? 1) - 1;
    if (count === 0) followed.delete(server);
    else followed.set(server, count);
    void followLogs();
  };
}

async function followLogs(): Promise<void> {
  if (!isLive.value) return;
  const topics = ['log', 'notification'];
  try {
    if (followed.size === 0) await request('fleet/unsubscribe', { topics });
    else await request('fleet/subscribe', { topics, servers: [...followed.keys()] });
  } catch {
    // `refreshAll` subscribes again
  }
}
