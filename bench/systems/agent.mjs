// An agent as the harness sees it: a process to which orders are sent.
import { join } from 'node:path';
import { end, startFork } from '../children.mjs';

const AGENT = join(import.meta.dirname, '..', 'agent.mjs');

/**
 * @param {Bench.TransportOptions} [transport]
 * @param {object} [options] of the process
 * @returns {Promise<Bench.Agent>}
 */
export async function openAgent(transport, options) {
  // the official client's own warnings would be printed in the middle of a measurement
  const child = startFork(AGENT, [], { execArgv: ['--no-warnings'], ...options });
  const waiting = new Map();
  let last = 0;
  child.on('message', (/** @type {{ id: string, result: any, error: any }} */ { id, result, error }) => {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) resolve(result);
    else reject(new Error(error));
  });
  child.once('exit', (/** @type {number} */ code, /** @type {NodeJS.Signals} */ signal) => {
    for (const { reject } of waiting.values()) reject(new Error(`the agent ended (${code ?? signal})`));
    waiting.clear();
  });
  /** @type {Bench.Agent} */
  const agent = {
    pid: child.pid ?? 0,
    ask: (order, params) =>
      new Promise((resolve, reject) => {
        last += 1;
        waiting.set(last, { resolve, reject });
        child.send({ id: last, order, params });
      }),
    async close() {
      if (child.connected) child.disconnect();
      await end(child, 'SIGCONT');
    },
  };
  if (transport !== undefined) await agent.ask('open', transport);
  return agent;
}
