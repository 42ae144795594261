import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { FleetError } from './fleet-error.js';
import { epoch, isLive, request, type Stamped } from './store.js';

export interface Fetched<Value> {
  /** The last answer, also after a later request failed. */
  fetched: Stamped<Value> | null;
  error: FleetError | null;
  isFetching: boolean;
  refresh(): void;
}

/**
 * The answer of a method: fetched when the params change, after each new connection, and every `everyMs` while the tab is
 * seen. An answer to older params is dropped.
 */
export function useRequest<Value>(
  method: string,
  params: object = {},
  options: { everyMs?: number; isOff?: boolean } = {},
): Fetched<Value> {
  const { everyMs, isOff = false } = options;
  const fetched = useSignal<Stamped<Value> | null>(null);
  const error = useSignal<FleetError | null>(null);
  const isFetching = useSignal(false);
  const key = JSON.stringify(params);
  const shownKey = useRef(key);
  const run = useRef<() => void>(() => undefined);
  const connectionNumber = epoch.value;

  useEffect(() => {
    if (isOff) return;
    let isCurrent = true;
    let isBusy = false;
    if (shownKey.current !== key) {
      shownKey.current = key;
      fetched.value = null;
      error.value = null;
    }
    const fetchOnce = async () => {
      if (isBusy || !isLive.peek()) return;
      isBusy = true;
      isFetching.value = true;
      try {
        const value = await request<Value>(method, params);
        if (!isCurrent) return;
        fetched.value = { value, at: Date.now() };
        error.value = null;
      } catch (thrown) {
        if (isCurrent) error.value = FleetError.of(thrown);
      } finally {
        isBusy = false;
        if (isCurrent) isFetching.value = false;
      }
    };
    run.current = () => void fetchOnce();
    void fetchOnce();
    const timer =
      everyMs === undefined ? undefined : setInterval(() => !document.hidden && void fetchOnce(), everyMs);
    return () => {
      isCurrent = false;
      clearInterval(timer);
    };
  }, [method, key, isOff, everyMs, connectionNumber]);

  return {
    fetched: fetched.value,
    error: error.value,
    isFetching: isFetching.value,
    refresh: () => run.current(),
  };
}
