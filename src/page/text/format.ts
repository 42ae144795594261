/** `1.2k`, `3.4M`: a count in at most four characters. */
export function count(value: number): string {
  if (value < 1000) return String(value);
  if (value < 10_000) return `${(Math.floor(value / 100) / 10).toFixed(1)}k`;
  if (value < 1_000_000) return `${Math.floor(value / 1000)}k`;
  if (value < 10_000_000) return `${(Math.floor(value / 100_000) / 10).toFixed(1)}M`;
  return `${Math.floor(value / 1_000_000)}M`;
}

/** Three digits at most: `0.8 ms`, `12 ms`, `1.24 s`, `2m5s`. */
export function milliseconds(ms: number | null): string {
  if (ms === null) return '–';
  if (ms < 1) return `${Number(ms.toFixed(2))} ms`;
  if (ms < 10) return `${Number(ms.toFixed(1))} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(2)} s`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}

/** `48 MB`; a megabyte is 1,048,576 bytes, as in the command's `48M`. */
export function memory(bytes: number | null): string {
  if (bytes === null) return '–';
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 ** 2) return `${Math.ceil(bytes / 1024)} kB`;
  if (bytes < 10 * 1024 ** 3) return `${Math.round(bytes / 1024 ** 2)} MB`;
  return `${(bytes / 1024 ** 3).toFixed(1)} GB`;
}

/** `1 call`, `2 calls`. */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${value.toLocaleString('en')} ${value === 1 ? one : many}`;
}

const two = (value: number): string => String(value).padStart(2, '0');

/** The local time of day, `12:03:04`. */
export function clock(ms: number): string {
  const date = new Date(ms);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** The local date and time, for titles and for what is older than a day. */
export function dateAndTime(ms: number): string {
  const date = new Date(ms);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${clock(ms)}`;
}

/** The end of a path tells projects apart. */
export function shortPath(path: string, length = 36): string {
  return path.length > length ? `…${path.slice(1 - length)}` : path;
}
