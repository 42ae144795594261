/**
 * Work that has to be done after the last change: it begins at once, and where more is changed while it goes on, it is
 * done once more when it is through, however often that was.
 */
export function coalesce(work: () => Promise<void>): () => void {
  let state: 'resting' | 'working' | 'outdated' = 'resting';
  const ended = () => {
    if (state === 'outdated') begin();
    else state = 'resting';
  };
  const begin = () => {
    state = 'working';
    work().then(ended, ended);
  };
  return () => {
    if (state === 'resting') begin();
    else state = 'outdated';
  };
}
