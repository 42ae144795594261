import { type Clock, systemClock } from '../../shared/clock.js';
import { DaemonUnreachableError } from './connect-socket.js';

/** A daemon that is busy answers its first word late; one that takes longer than this is stuck, or is none. */
export const FIRST_ANSWER_MS = 30_000;

export interface FirstQuestion {
  /** The socket that was asked. */
  path: string;
  withinMs?: number | undefined;
  /** Ends the connection: whatever else was asked there will not be answered either. */
  giveUp(reason: string): void;
  clock?: Clock;
}

/** What a daemon answers to its first question. A socket takes connections also where nobody reads them. */
export async function firstAnswer<T>(
  asked: Promise<T>,
  { path, withinMs = FIRST_ANSWER_MS, giveUp, clock = systemClock }: FirstQuestion,
): Promise<T> {
  let timer: unknown;
  let isOver = false;
  const late = new Promise<never>((_, reject) => {
    const end = () => {
      if (isOver) return;
      const silence = silenceOf(path, withinMs);
      reject(silence);
      giveUp(`${silence.message}; ${silence.fix}`);
    };
    // an answer that came while this process was busy is read first
    timer = clock.setTimeout(() => setImmediate(end), withinMs);
  });
  try {
    return await Promise.race([asked, late]);
  } finally {
    isOver = true;
    clock.clearTimeout(timer);
  }
}

function silenceOf(path: string, withinMs: number): DaemonUnreachableError {
  return new DaemonUnreachableError(`whoever listens on ${path} has not answered for ${withinMs / 1000} s`, {
    why: 'the daemon is stopped or stuck, or it is something else that listens there',
    fix: `end it (the pid of a daemon is in ${path}.lock), then start one with 'toolherd up'`,
  });
}
