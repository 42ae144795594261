import type { Fleet } from '../ipc/fleet.js';
import type { Call } from './verb.js';

const TICK_MS = 1000;

/** Where a server takes its time to start, a person is told what is being waited for. */
export async function whileWaiting<T>(
  call: Call,
  fleet: Fleet,
  server: string,
  work: Promise<T>,
): Promise<T> {
  const startedAt = Date.now();
  let isOver = false;
  const tick = async () => {
    const { servers } = await fleet.status([server]);
    const [status] = servers;
    if (isOver || status === undefined || status.state === 'connected') return;
    const seconds = Math.round((Date.now() - startedAt) / 1000);
    call.output.progress(`waiting for ${server} to start (${status.state}, ${seconds}s)`);
  };
  const timer = setInterval(() => {
    if (call.isInteractive()) tick().catch(() => undefined);
    else clearInterval(timer);
  }, TICK_MS);
  try {
    return await work;
  } finally {
    isOver = true;
    clearInterval(timer);
    call.output.progress(undefined);
  }
}
