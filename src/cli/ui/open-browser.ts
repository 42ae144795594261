import { spawn } from 'node:child_process';

/** Opens an address where the desktop opens such things. Without a shell, which would read the address as well. */
export function openBrowser(url: string, platform: NodeJS.Platform = process.platform): void {
  const { protocol } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') return;
  const child = spawn(platform === 'darwin' ? 'open' : 'xdg-open', [url], {
    detached: true,
    stdio: 'ignore',
  });
  // the address is printed as well: where there is no browser a person can still take it to one
  child.on('error', () => undefined);
  child.unref();
}
