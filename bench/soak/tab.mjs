// The page of the herd in a real browser: what it is asked to show, what it receives, and what it costs.
import { readFileSync } from 'node:fs';
import { launchBrowser } from '../../scripts/shared/browser.mjs';
import { until } from '../patience.mjs';

/**
 * Before the page's own code: counts events and long tasks, and can keep the page from its daemon while it stays open.
 * It runs in the browser.
 */
function watchPage() {
  /** @type {{ events: number, isAway: boolean, sockets: Set<WebSocket>, longest: number, long: number }} */
  const watched = { events: 0, isAway: false, sockets: new Set(), longest: 0, long: 0 };
  Object.assign(globalThis, { watched });
  const Real = globalThis.WebSocket;
  const away = (/** @type {string} */ url) => url.replace(/[^/]*$/, 'away');
  globalThis.WebSocket = /** @type {any} */ (
    function open(/** @type {string} */ url) {
      const socket = new Real(watched.isAway ? away(url) : url);
      watched.sockets.add(socket);
      socket.addEventListener('close', () => watched.sockets.delete(socket));
      socket.addEventListener('message', ({ data }) => {
        if (data.startsWith('{"jsonrpc":"2.0","method":"fleet/event"')) watched.events += 1;
      });
      return socket;
    }
  );
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) {
      watched.long += 1;
      watched.longest = Math.max(watched.longest, duration);
    }
  }).observe({ entryTypes: /** @type {any} */ (['longtask']) });
}

/** @typedef {Awaited<ReturnType<typeof openTab>>} Tab */

/** @param {string} url a link of the daemon */
export async function openTab(url) {
  const browser = await launchBrowser();
  const window = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  await window.addInitScript(watchPage);
  const page = await window.newPage();
  await page.goto(url);
  const isLive = async () => (await page.locator('.top .live.good').count()) === 1;
  await until('the page became live', isLive);
  const session = await browser.newBrowserCDPSession();
  const processes = async () => (await session.send('SystemInfo.getProcessInfo')).processInfo;
  const ownPid = pidOfTab(await processes());
  const read = (/** @type {string} */ name) => page.evaluate(`watched.${name}`).then(Number);
  return {
    isLive,
    /** What the page says where it is not live. */
    said: () => page.locator('.top .live, .banner').allTextContents(),
    /** Private memory of the process of the tab, which is what the task manager of a browser shows. */
    memory: () => privateMemoryOf(ownPid),
    /** What all processes of the browser have used of a core (ms). */
    cpu: async () => (await processes()).reduce((sum, { cpuTime }) => sum + cpuTime * 1000, 0),
    events: () => read('events'),
    /** Since the last time (ms): no task was longer, and no input waited longer for it. */
    async longestTask() {
      const longest = await read('longest');
      await page.evaluate('watched.longest = 0');
      return longest;
    },
    show: (/** @type {string} */ address) => page.evaluate(`location.hash = ${JSON.stringify(address)}`),
    /** As a tab that is closed, for the daemon; what the page holds stays. */
    async leave() {
      await page.evaluate('watched.isAway = true; for (const socket of watched.sockets) socket.close()');
      await until('the page lost its daemon', async () => !(await isLive()));
    },
    async comeBack() {
      await page.evaluate('watched.isAway = false');
      const button = page.getByRole('button', { name: 'Try now' });
      await button.click({ timeout: 2000 }).catch(() => undefined);
      await until('the page found its daemon again', isLive);
    },
    close: () => browser.close(),
  };
}

/** @param {readonly { type: string, id: number }[]} processes */
function pidOfTab(processes) {
  const tabs = processes.filter(({ type }) => type === 'renderer').map(({ id }) => id);
  // a browser keeps an empty one ready
  return tabs.sort((a, b) => privateMemoryOf(b) - privateMemoryOf(a))[0] ?? 0;
}

function privateMemoryOf(/** @type {number} */ pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (/** @type {string} */ name) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1024;
  return field('RssAnon') + field('VmSwap');
}
