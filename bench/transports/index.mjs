// How an agent reaches the servers. All have the same interface: `call(server, tool, args)` resolves with the text of the
// result, or rejects when the call failed. Each is loaded when it is opened, so that an agent holds only its own code.
/** @type {Record<string, () => Promise<(options: any) => Promise<Bench.Transport>>>} */
const transports = {
  pipe: async () => (await import('./raw.mjs')).openPipe,
  socket: async () => (await import('./raw.mjs')).openSocket,
  reader: async () => (await import('./reader.mjs')).openReader,
  sdk: async () => (await import('./sdk.mjs')).openSdk,
  nats: async () => (await import('./nats.mjs')).openNats,
  library: async () => (await import('./library.mjs')).openLibrary,
  mcporter: async () => (await import('./peers.mjs')).openMcporter,
  'mcp-hub': async () => (await import('./peers.mjs')).openHub,
  mcpc: async () => (await import('./peers.mjs')).openMcpc,
};

export const openTransport = async (/** @type {Bench.TransportOptions} */ transport) =>
  (await transports[transport.kind]())(transport);
