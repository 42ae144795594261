const LENGTH = 20;

/** The progress of a call on one line, with a bar if the server sends the total. */
export function progressBar({ progress, total, message }: Record<string, unknown>): string {
  const words = typeof message === 'string' ? ` ${message}` : '';
  if (typeof progress !== 'number') return words.trim();
  if (typeof total !== 'number' || !(total > 0)) return `${progress}${words}`;
  const done = Math.round(Math.min(1, Math.max(0, progress / total)) * LENGTH);
  return `[${'#'.repeat(done)}${'-'.repeat(LENGTH - done)}] ${progress}/${total}${words}`;
}
