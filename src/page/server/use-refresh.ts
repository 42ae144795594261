import { useEffect, useRef } from 'preact/hooks';
import { onEvents } from '../live/store.js';

/** Which list: of which server, and its state as far as a list depends on it. */
export interface ShownList {
  server: string;
  list: 'tools' | 'prompts' | 'resources';
  revision: string;
}

/** Fetches again when the list or the revision changes; not at first, when the answer is fetched anyway. */
export function useRefresh({ server, list, revision }: ShownList, refresh: () => void): void {
  const seen = useRef(revision);
  useEffect(() => {
    if (seen.current === revision) return;
    seen.current = revision;
    refresh();
  }, [revision]);
  useEffect(
    () =>
      onEvents((events) => {
        const isOfList = events.some(
          (event) => event.topic === 'catalog' && event.server === server && event.list === list,
        );
        if (isOfList) refresh();
      }),
    [server, list],
  );
}
