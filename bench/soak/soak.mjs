// A page that is open for long, on a herd that is in trouble: what it costs the tab, and what it costs other clients.

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { end, endAll, onEnd, startFork } from '../children.mjs';
import { median, quantile } from '../numbers.mjs';
import { cpuOf, rssOf } from '../proc-stats.mjs';
import { namesOf } from '../systems/servers.mjs';
import { startToolherd } from '../systems/toolherd.mjs';
import { openTransport } from '../transports/index.mjs';
import { openTab } from './tab.mjs';

/** Calls a second; each is an event. The page gets those that it shows. */
const RATE = 1000;
/** Every so often so many servers are killed, one after the other. */
const STORM = { everyMs: 5000, kills: 10, pauseMs: 50 };
const LOOK_EVERY_MS = 1000;
/** What just changed is not measured: the page connects anew, or goes. */
const SETTLE_MS = 1000;
const STEADY = 'steady';
const TALKER = 'talker';
/** A killed server is started again soon, however often it is killed. */
const MORTAL = { max_restarts: 1000, backoff: { min: 0.05, max: 0.05 } };
const PAGES = [
  '#/herd',
  '#/calls',
  `#/server/${TALKER}?tab=logs`,
  '#/server/e0',
  '#/agents',
  '#/calls?outcome=failed',
];

/** @typedef {{ minutes: number, windowMs: number, servers: number }} SoakOptions */
/** @typedef {Awaited<ReturnType<typeof runSoak>>} SoakResult */

/**
 * The page is with its daemon for `minutes`, in windows; between two of them it is away for as long. So both kinds of
 * windows see the same machine.
 * @param {SoakOptions} options
 * @param {Bench.Note} note
 */
export async function runSoak({ minutes, windowMs, servers }, note) {
  const names = namesOf(servers - 2);
  const talker = { args: [join(import.meta.dirname, 'talker.mjs')], server: TALKER };
  const herd = await startToolherd({
    [STEADY]: {},
    [TALKER]: talker,
    ...Object.fromEntries(names.map((name) => [name, MORTAL])),
  });
  const fleet = await openTransport({ ...herd.transports.fleet });
  const ask = (/** @type {string} */ method, params = {}) =>
    /** @type {Promise<Bench.Json>} */ (fleet.request?.(method, params));
  const fork = (/** @type {string} */ file, /** @type {object} */ how) =>
    startFork(join(import.meta.dirname, file), [JSON.stringify({ path: herd.path, ...how })]);
  const probe = fork('probe.mjs', { server: STEADY });
  const traffic = fork('traffic.mjs', { servers: names, rate: RATE });
  const latencies = { with: /** @type {number[][]} */ ([]), without: /** @type {number[][]} */ ([]) };
  /** Milliseconds of a core in one millisecond. */
  const cpu = {
    daemon: { with: /** @type {number[]} */ ([]), without: /** @type {number[]} */ ([]) },
    browser: { with: /** @type {number[]} */ ([]), without: /** @type {number[]} */ ([]) },
  };
  const used = async () => ({ daemon: cpuOf(herd.pid) ?? Number.NaN, browser: await tab.cpu() });
  const seen = { events: 0, liveMs: 0, memory: /** @type {number[]} */ ([]), longestTask: 0 };
  const rssBefore = rssOf(herd.pid);
  const tab = await openTab((await ask('fleet/ui')).url);
  const forget = onEnd(tab.close);
  const storms = startStorms(ask);
  let shown = 0;
  const startedAt = performance.now();

  async function window(/** @type {'with' | 'without'} */ kind) {
    if (kind === 'with') await tab.comeBack();
    else await tab.leave();
    await sleep(SETTLE_MS);
    await answerOf(probe);
    await tab.longestTask();
    const events = await tab.events();
    const before = await used();
    const began = performance.now();
    while (performance.now() - began < windowMs) {
      if (kind === 'with') {
        await tab.show(PAGES[shown++ % PAGES.length] ?? '');
        seen.memory.push(tab.memory());
      }
      await sleep(LOOK_EVERY_MS);
    }
    latencies[kind].push(await answerOf(probe));
    const passedMs = performance.now() - began;
    const after = await used();
    for (const who of /** @type {const} */ (['daemon', 'browser']))
      cpu[who][kind].push((after[who] - before[who]) / passedMs);
    if (kind === 'without') return;
    if (!(await tab.isLive())) throw new Error(`the page is not live: ${await tab.said()}`);
    seen.events += (await tab.events()) - events;
    seen.liveMs += passedMs;
    seen.longestTask = Math.max(seen.longestTask, await tab.longestTask());
  }

  try {
    await tab.leave();
    const rounds = Math.max(1, Math.round((minutes * 60_000) / windowMs));
    for (let round = 0; round < rounds; round += 1) {
      // each kind is first as often as second
      const kinds = /** @type {const} */ (['with', 'without']);
      for (const kind of round % 2 === 0 ? kinds : [...kinds].reverse()) await window(kind);
      const [with_, without] = [latencies.with.at(-1) ?? [], latencies.without.at(-1) ?? []];
      note(
        `${round + 1} of ${rounds}: p99 ${quantile(with_, 0.99).toFixed(2)} ms with the page, ${quantile(without, 0.99).toFixed(2)} ms without; tab ${Math.round((seen.memory.at(-1) ?? 0) / 2 ** 20)} MB`,
      );
    }
    const kills = await storms.end();
    const { calls, failed } = await answerOf(traffic);
    const passedMs = performance.now() - startedAt;
    const { servers: states } = await ask('fleet/status');
    return {
      minutes: seen.liveMs / 60_000,
      windows: rounds,
      servers,
      calls,
      failed,
      kills,
      restarts: states.reduce((/** @type {number} */ sum, /** @type {any} */ one) => sum + one.restarts, 0),
      calls_per_s: (calls * 1000) / passedMs,
      events_per_s: (seen.events * 1000) / seen.liveMs,
      tab_bytes: { first: seen.memory[0] ?? 0, median: median(seen.memory), most: Math.max(...seen.memory) },
      longest_task_ms: seen.longestTask,
      cores: {
        daemon: { with: median(cpu.daemon.with), without: median(cpu.daemon.without) },
        browser: { with: median(cpu.browser.with), without: median(cpu.browser.without) },
      },
      p50_ms: {
        with: quantile(latencies.with.flat(), 0.5),
        without: quantile(latencies.without.flat(), 0.5),
      },
      p99_ms: {
        with: quantile(latencies.with.flat(), 0.99),
        without: quantile(latencies.without.flat(), 0.99),
      },
      daemon_bytes: { before: rssBefore ?? 0, after: rssOf(herd.pid) ?? 0 },
    };
  } finally {
    await storms.end();
    forget();
    await tab.close();
    await Promise.all([end(probe), end(traffic)]);
    fleet.close();
    await herd.close();
    await endAll();
  }
}

/** @returns {Promise<Bench.Json>} */
function answerOf(/** @type {import('node:child_process').ChildProcess} */ child) {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error('a process of the soak ended'));
    child.once('exit', ended);
    child.once('message', (answer) => {
      child.off('exit', ended);
      resolve(answer);
    });
    child.send('');
  });
}

/** @param {(method: string) => Promise<Bench.Json>} ask */
function startStorms(ask) {
  let isOver = false;
  const killed = storm();

  async function storm() {
    let kills = 0;
    while (!isOver) {
      const { servers } = await ask('fleet/status');
      const mortal = servers.filter((/** @type {any} */ { name }) => name !== STEADY && name !== TALKER);
      for (let kill = 0; kill < STORM.kills && !isOver; kill += 1) {
        const { pids } = mortal[Math.floor(Math.random() * mortal.length)];
        if (pids.length > 0 && tryKill(pids[0])) kills += 1;
        await sleep(STORM.pauseMs);
      }
      for (let waited = 0; waited < STORM.everyMs && !isOver; waited += 100) await sleep(100);
    }
    return kills;
  }
  return {
    end() {
      isOver = true;
      return killed;
    },
  };
}

function tryKill(/** @type {number} */ pid) {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    // another kill was faster
    return false;
  }
}
