/** Number by number, also in the suffix (`rc.9`, `rc.10`); a version with a suffix comes before the one without. */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [split(one), split(other)];
  for (let index = 0; index < Math.max(a.numbers.length, b.numbers.length); index++) {
    const difference = (a.numbers[index] ?? 0) - (b.numbers[index] ?? 0);
    if (difference !== 0) return difference;
  }
  if (a.suffix === b.suffix) return 0;
  if (a.suffix === '' || b.suffix === '') return a.suffix === '' ? 1 : -1;
  return a.suffix.localeCompare(b.suffix, 'en', { numeric: true });
}

function split(version: string): { numbers: number[]; suffix: string } {
  const [plain = ''] = version.split('+');
  const dash = plain.indexOf('-');
  const numbers = dash === -1 ? plain : plain.slice(0, dash);
  return {
    numbers: numbers.split('.').map((part) => Number.parseInt(part.replace(/^v/, ''), 10) || 0),
    suffix: dash === -1 ? '' : plain.slice(dash + 1),
  };
}
