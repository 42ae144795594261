type Scalar = string | number | boolean;
type Value = Scalar | readonly Scalar[] | { readonly [key: string]: Scalar | readonly Scalar[] };

/** The default of a field: a value, which resolving an entry reads; or words, where there is no value (`required`, `none`). */
export type Default = Value | { readonly value: Value; readonly shown: string };

/** For editors and docs: YAML where the default can be written in a file, else words. */
export function defaultText(value: Default): string {
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return `[${value.map((one) => JSON.stringify(one)).join(', ')}]`;
  if ('shown' in value) return String(value.shown);
  const members = Object.entries(value).map(([key, one]) => `${key}: ${defaultText(one)}`);
  return `{${members.join(', ')}}`;
}

export const toMs = (value: unknown, seconds: number) =>
  Math.round((typeof value === 'number' ? value : seconds) * 1000);

/** The shapes were checked: a value that is there has the right type. */
export const valueOr = <T>(value: unknown, fallback: T): T =>
  value === undefined || value === null ? fallback : (value as T);
