import { useEffect, useRef } from 'preact/hooks';

/** Fetches again when the revision changes; not at first, when the answer is fetched anyway. */
export function useRefresh(revision: string, refresh: () => void): void {
  const seen = useRef(revision);
  useEffect(() => {
    if (seen.current === revision) return;
    seen.current = revision;
    refresh();
  }, [revision]);
}
