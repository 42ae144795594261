/** As much of a description as fits into a table. */
export function firstLine(text: string | null): string {
  const line = (text ?? '').split('\n').find((part) => part.trim() !== '') ?? '';
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}
