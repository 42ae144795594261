// One agent: a process that opens one transport to the servers and runs the workloads that the harness orders over IPC.
import { openTransport } from './transports/index.mjs';
import { workloads } from './workloads.mjs';

/** @type {Bench.Transport} */
let transport;
/** @type {Record<string, (params: any) => Promise<unknown>>} */
const orders = {
  open: async (how) => void (transport = await openTransport(how)),
  close: async () => transport.close(),
};

process.on('SIGINT', () => {});
process.on('disconnect', async () => {
  await transport?.close();
  process.exit();
});
process.on('message', async (/** @type {any} */ { id, order, params }) => {
  try {
    const result = orders[order]
      ? await orders[order](params)
      : await workloads[/** @type {keyof typeof workloads} */ (order)](transport, params);
    process.send?.({ id, result });
  } catch (error) {
    process.send?.({ id, error: `${order}: ${/** @type {Error} */ (error).message}` });
  }
});
