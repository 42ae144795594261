import type { Fleet, ServerStatus } from '../../../fleet/fleet.js';
import type { CommandContext } from '../../core/command.js';

const TICK_MS = 1000;

/** While servers take long to start, shows on a terminal which one the work waits for. Without a name: any server. */
export async function showStartProgress<T>(
  context: CommandContext,
  fleet: Fleet,
  server: string | undefined,
  work: Promise<T>,
): Promise<T> {
  const startedAt = Date.now();
  let isOver = false;
  const tick = async () => {
    const { servers } = await fleet.status(server === undefined ? undefined : [server]);
    const [first, ...others] = servers.filter(server === undefined ? isStarting : isNotUp);
    if (isOver || first === undefined) return;
    const seconds = Math.round((Date.now() - startedAt) / 1000);
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    context.output.progress(`waiting for ${first.name}${more} to start (${first.state}, ${seconds}s)`);
  };
  const timer = setInterval(() => {
    if (context.isInteractive()) tick().catch(() => undefined);
    else clearInterval(timer);
  }, TICK_MS);
  try {
    return await work;
  } finally {
    isOver = true;
    clearInterval(timer);
    context.output.progress(undefined);
  }
}

const isNotUp = ({ state }: ServerStatus) => state !== 'connected';
const isStarting = ({ state, detail }: ServerStatus) => detail === 'running' && state !== 'connected';

const BAR_LENGTH = 20;

/** The progress of a call on one line, with a bar if the server sends the total. */
export function progressBar({ progress, total, message }: Record<string, unknown>): string {
  const suffix = typeof message === 'string' ? ` ${message}` : '';
  if (typeof progress !== 'number') return suffix.trim();
  if (typeof total !== 'number' || !(total > 0)) return `${progress}${suffix}`;
  const done = Math.round(Math.min(1, Math.max(0, progress / total)) * BAR_LENGTH);
  return `[${'#'.repeat(done)}${'-'.repeat(BAR_LENGTH - done)}] ${progress}/${total}${suffix}`;
}
