import { signal } from '@preact/signals';

/** Where the page is: `#/server/github?tab=logs`. */
export interface Route {
  page: string;
  /** The decoded segments after the page. */
  rest: readonly string[];
  query: URLSearchParams;
}

/** A malformed address is the first page. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  try {
    const [page = '', ...rest] = path.split('/').map(decodeURIComponent);
    return { page, rest, query: new URLSearchParams(query) };
  } catch {
    return { page: '', rest: [], query: new URLSearchParams() };
  }
}

export function href(
  page: string,
  rest: readonly string[] = [],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const path = [page, ...rest].map(encodeURIComponent).join('/');
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return `#/${path}${given.length === 0 ? '' : `?${new URLSearchParams(given)}`}`;
}

export const route = signal<Route>(parseRoute(globalThis.location?.hash ?? ''));

/** Goes there; `isReplacing`: the way back does not stop here, as for each letter of a filter. */
export function go(address: string, isReplacing = false): void {
  if (isReplacing) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  route.value = parseRoute(location.hash);
}

export function startRouter(): void {
  const read = () => (route.value = parseRoute(location.hash));
  addEventListener('hashchange', read);
  addEventListener('popstate', read);
}
