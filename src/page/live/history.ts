import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { FleetHistory } from '../../fleet/fleet.js';
import { HISTORY_MINUTES } from '../../fleet/history.js';
import { mergeHistory } from './merge-history.js';
import { epoch, isLive, request, type Stamped } from './store.js';

const EVERY_MS = 5000;
/** A tab that was hidden for longer fetches the day again. */
const TAIL_MINUTES = 15;

export const history = signal<Stamped<FleetHistory> | null>(null);
let fetchedEpoch = -1;
let isFetching = false;

async function fetchHistory(): Promise<void> {
  if (isFetching || document.hidden || !isLive.peek()) return;
  isFetching = true;
  try {
    const kept = fetchedEpoch === epoch.peek() ? history.peek() : null;
    const tail = kept && (await request<FleetHistory>('fleet/history', { minutes: TAIL_MINUTES }));
    const merged = kept && tail ? mergeHistory(kept.value, tail) : undefined;
    const value = merged ?? (await request<FleetHistory>('fleet/history', { minutes: HISTORY_MINUTES }));
    history.value = { value, at: Date.now() };
    fetchedEpoch = epoch.peek();
  } catch {
    // the old history stays, with its time
  } finally {
    isFetching = false;
  }
}

/** Keeps `history` up to date while the component is shown. */
export function useHistory(): Stamped<FleetHistory> | null {
  const connectionNumber = epoch.value;
  useEffect(() => {
    void fetchHistory();
    const timer = setInterval(() => void fetchHistory(), EVERY_MS);
    return () => clearInterval(timer);
  }, [connectionNumber]);
  return history.value;
}
