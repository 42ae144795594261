// Loaded into a daemon before its own program: on request it collects garbage, and counts what is left.
const { readdirSync } = require('node:fs');
const { setTimeout: sleep } = require('node:timers/promises');

process.on('message', async () => {
  // the second collection takes what finalizers of the first let go
  for (let time = 0; time < 3; time += 1) {
    globalThis.gc?.();
    await sleep(50);
  }
  /** @type {Record<string, number>} */
  const resources = {};
  for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1;
  process.send?.({
    heap: process.memoryUsage().heapUsed,
    rss: process.memoryUsage().rss,
    fds: readdirSync('/proc/self/fd').length,
    timers: resources.Timeout ?? 0,
    resources,
  });
});
process.channel?.unref();
