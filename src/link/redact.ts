/** Shorter values are words that occur by chance (`1`, `true`, `debug`). */
const SHORTEST_SECRET = 6;

/**
 * Takes declared values out of text that a server wrote and a person will read: `sk-abc123` → `[API_KEY]`. Which of
 * them are secret nobody says, so none is shown.
 */
export function redactor(env: Readonly<Record<string, string>>): (text: string) => string {
  const names = new Map<string, string>();
  for (const [name, value] of Object.entries(env))
    if (value.length >= SHORTEST_SECRET) names.set(value, name);
  if (names.size === 0) return (text) => text;
  // the longest first: one value may be the beginning of another
  const values = [...names.keys()].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(
    values.map((value) => value.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|'),
    'g',
  );
  return (text) => text.replace(pattern, (value) => `[${names.get(value)}]`);
}
