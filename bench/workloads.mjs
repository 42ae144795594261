// What an agent can be told to do, and what it then reports.
import { within } from './patience.mjs';
import { connectLines, shakeHands } from './transports/lines.mjs';
import { openPipe } from './transports/raw.mjs';

const textOf = (/** @type {number} */ size) => 'x'.repeat(size);
const sleep = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function echo(
  /** @type {Bench.Transport} */ transport,
  /** @type {string} */ server,
  /** @type {string} */ text,
) {
  if ((await transport.call(server, 'echo', { text })) !== text)
    throw new Error(`${server} answered another text`);
}

const failed = (/** @type {Promise<any>} */ promise) =>
  promise.then(
    () => sleep(2 ** 30),
    () => true,
  );

export const workloads = {
  nothing() {},

  /** What servers offer, all of them at once. */
  async list(/** @type {Bench.Transport} */ transport, /** @type {{ servers: string[] }} */ { servers }) {
    await Promise.all(servers.map((/** @type {string} */ server) => transport.list?.(server)));
  },

  /** One call after the other: how long each took, in ms. */
  async sequential(
    /** @type {Bench.Transport} */ transport,
    /** @type {{ calls: number, size?: number, server?: string }} */ { calls, size = 100, server = 'e0' },
  ) {
    const text = textOf(size);
    const times = [];
    for (let call = 0; call < calls; call += 1) {
      const begun = performance.now();
      await echo(transport, server, text);
      times.push(performance.now() - begun);
    }
    return times;
  },

  /** The same for some time. */
  async sequentialFor(
    /** @type {Bench.Transport} */ transport,
    /** @type {{ ms: number, server: string }} */ { ms, server },
  ) {
    const text = textOf(100);
    const times = [];
    for (const end = performance.now() + ms; performance.now() < end; ) {
      const begun = performance.now();
      await echo(transport, server, text);
      times.push(performance.now() - begun);
    }
    return times;
  },

  /** Many calls at once, over some servers: how long all of them took, in ms. */
  async flood(
    /** @type {Bench.Transport} */ transport,
    /** @type {{ calls: number, inFlight: number, servers: string[], size?: number }} */ {
      calls,
      inFlight,
      servers,
      size = 100,
    },
  ) {
    const text = textOf(size);
    let left = calls;
    const worker = async (/** @type {string} */ server) => {
      while (left > 0) {
        left -= 1;
        await echo(transport, server, text);
      }
    };
    const begun = performance.now();
    await Promise.all(Array.from({ length: inFlight }, (_, at) => worker(servers[at % servers.length])));
    return performance.now() - begun;
  },

  /** A result of a size, in ms; the mean of several where one is too quick to be measured. */
  async large(
    /** @type {Bench.Transport} */ transport,
    /** @type {{ size: number, server?: string, times?: any }} */ { size, server = 'e0', times = 1 },
  ) {
    const begun = performance.now();
    let text;
    for (let time = 0; time < times; time += 1) text = await transport.call(server, 'give', { size });
    const ms = (performance.now() - begun) / times;
    // escaped, as it travels, a line of the text is longer
    if ((typeof text === 'string' ? text.length : Number.POSITIVE_INFINITY) < 0.9 * size)
      throw new Error('the result was cut');
    return ms;
  },

  /** Large results for some time, one after the other: how many. */
  async largeFor(
    /** @type {Bench.Transport} */ transport,
    /** @type {{ ms: number, size: number, server?: string }} */ { ms, size, server = 'e0' },
  ) {
    let count = 0;
    for (const end = performance.now() + ms; performance.now() < end; count += 1) {
      await workloads.large(transport, { size, server });
    }
    return count;
  },

  /** Kills a server in the middle of a call: when the caller heard of it, and when a call succeeded again. */
  async recovery(
    /** @type {Bench.Transport} */ transport,
    /** @type {{ server: string, patienceMs: number }} */ { server, patienceMs },
  ) {
    const pid = Number(await transport.call(server, 'pid', {}));
    const hanging = failed(transport.call(server, 'hang', {}));
    await sleep(100);
    const killed = performance.now();
    process.kill(pid, 'SIGKILL');
    const heard = (await within(patienceMs, hanging)) ? performance.now() - killed : undefined;
    for (const end = performance.now() + patienceMs; performance.now() < end; await sleep(2)) {
      const isBack = await within(
        patienceMs,
        echo(transport, server, 'back').then(
          () => true,
          () => false,
        ),
      );
      if (isBack) return { heard, back: performance.now() - killed };
    }
    return { heard };
  },

  /** A thousand at once, in one request where there is one for it. */
  async fanOut(
    /** @type {Bench.Transport} */ transport,
    /** @type {{ calls: number, servers: string[], inOne: boolean }} */ { calls, servers, inOne },
  ) {
    const serverOf = (/** @type {number} */ at) => servers[at % servers.length];
    const begun = performance.now();
    if (inOne) {
      const list = Array.from({ length: calls }, (_, at) => ({
        server: serverOf(at),
        tool: 'echo',
        arguments: { text: textOf(100) },
      }));
      if (transport.request === undefined) throw new Error('this transport has no request for many calls');
      const { results } = await transport.request('fleet/call_many', { calls: list });
      if (results.length !== calls || results.some((/** @type {{ success: any }} */ { success }) => !success))
        throw new Error('a call failed');
    } else {
      await Promise.all(Array.from({ length: calls }, (_, at) => echo(transport, serverOf(at), textOf(100))));
    }
    return performance.now() - begun;
  },

  /** From connecting to the list of tools. */
  async attach(/** @type {unknown} */ _, /** @type {{ path: string, tools: number }} */ { path, tools }) {
    const begun = performance.now();
    const { lines, socket } = await connectLines(path);
    await shakeHands(lines);
    const listed = (await lines.request('tools/list')).tools.length;
    const ms = performance.now() - begun;
    socket.destroy();
    if (listed !== tools) throw new Error(`${listed} tools are listed, not ${tools}`);
    return ms;
  },

  /** Children of the agent's own: spawned, greeted, listed; and the first answered when that is asked for. */
  async spawnRaw(
    /** @type {unknown} */ _,
    /** @type {{ servers: Record<string, Bench.Argv>, calls?: number }} */ { servers, calls = 0 },
  ) {
    const begun = performance.now();
    const transport = await openPipe({ servers });
    await Promise.all(
      Object.keys(servers).map((name) => (calls > 0 ? echo(transport, name, 'x') : transport.list(name))),
    );
    const ms = performance.now() - begun;
    transport.close();
    return ms;
  },
};
