// How an agent reaches the servers. Each way opens to the same: `call(server, tool, args)` gives the text of the result,
// or rejects when the call failed. What a way needs is loaded when it is opened: no agent carries another's weight.
const ways = {
  pipe: async () => (await import('./raw.mjs')).openPipe,
  socket: async () => (await import('./raw.mjs')).openSocket,
  reader: async () => (await import('./reader.mjs')).openReader,
  sdk: async () => (await import('./sdk.mjs')).openSdk,
  library: async () => (await import('./library.mjs')).openLibrary,
  mcporter: async () => (await import('./peers.mjs')).openMcporter,
  'mcp-hub': async () => (await import('./peers.mjs')).openHub,
  mcpc: async () => (await import('./peers.mjs')).openMcpc,
};

export const openWay = async (way) => (await ways[way.kind]())(way);
