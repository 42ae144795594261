import type { Transport } from './transports.js';

/** True for host names and addresses of this machine. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  return bare === 'localhost' || bare === '::1' || /^127(\.\d{1,3}){3}$/.test(bare);
}

/** What is wrong with the url of a server; undefined for a valid one. The url itself is never quoted. */
export function urlProblem(
  text: string,
  transport: Transport,
  allowHttp: readonly string[],
): { message: string; fix: string } | undefined {
  const isSocket = transport === 'websocket';
  const message = isSocket
    ? "'url' must use wss:// or ws://"
    : "'url' must use https:// (or http:// for localhost)";
  const [secure, plain] = isSocket ? ['wss:', 'ws:'] : ['https:', 'http:'];
  if (!URL.canParse(text)) return { message, fix: `write a full url that begins with ${secure}//` };
  const url = new URL(text);
  if (url.protocol === secure) return undefined;
  if (url.protocol !== plain) return { message, fix: `write a url that begins with ${secure}//` };
  if (isLoopback(url.hostname) || allowHttp.some((host) => sameHost(host, url))) return undefined;
  // A token must not be sent unencrypted, so plain ws follows the rule of plain http.
  const fix = `use ${secure}//, or add the host to security.allow_http in config.yaml`;
  return isSocket ? { message: "'url' must use wss:// (or ws:// for localhost)", fix } : { message, fix };
}

function sameHost(allowed: string, url: URL): boolean {
  const wanted = allowed.toLowerCase();
  return wanted === url.host.toLowerCase() || wanted === url.hostname.toLowerCase();
}
