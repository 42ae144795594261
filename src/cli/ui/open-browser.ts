import { spawn } from 'node:child_process';

/** Opens an address in the browser of the desktop. Without a shell, which would interpret the address. */
export function openBrowser(url: string, platform: NodeJS.Platform = process.platform): void {
  const { protocol } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') return;
  const child = spawn(platform === 'darwin' ? 'open' : 'xdg-open', [url], {
    detached: true,
    stdio: 'ignore',
  });
  // no browser is no error: the address is printed too
  child.on('error', () => undefined);
  child.unref();
}
