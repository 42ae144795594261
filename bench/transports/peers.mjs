// The peers, each by the client that it brings, or by the official one where it serves MCP.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const load = (/** @type {string} */ file) => import(pathToFileURL(file).href);

/** @param {any} result */
function textOf({ content, isError }) {
  if (isError) throw new Error(content[0].text);
  return content[0].text;
}

/** the client of mcporter's daemon; it opens a connection for each request. */
export async function openMcporter(/** @type {{ folder: string, config: string }} */ { folder, config }) {
  const { DaemonClient } = await load(join(folder, 'node_modules/mcporter/dist/daemon/client.js'));
  const client = new DaemonClient({ configPath: config, configExplicit: true });
  return {
    call: async (
      /** @type {string} */ server,
      /** @type {string} */ tool,
      /** @type {Bench.Arguments} */ args,
    ) => textOf(await client.callTool({ server, tool, args })),
    list: (/** @type {string} */ server) => client.listTools({ server }),
    close: () => {},
  };
}

/** mcp-hub is an MCP server over SSE. */
export async function openHub(/** @type {{ url: string }} */ { url }) {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const { SSEClientTransport } = await import('@modelcontextprotocol/sdk/client/sse.js');
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(new SSEClientTransport(new URL(url)));
  return {
    call: async (
      /** @type {string} */ server,
      /** @type {string} */ tool,
      /** @type {Bench.Arguments} */ args,
    ) => textOf(await client.callTool({ name: `${server}__${tool}`, arguments: args })),
    list: async () => (await client.listTools()).tools,
    close: () => client.close(),
  };
}

/** mcpc has a process for each server, and a socket for each of them. */
export async function openMcpc(
  /** @type {{ folder: string, sockets: Record<string, string> }} */ { folder, sockets },
) {
  const { BridgeClient } = await load(join(folder, 'node_modules/@apify/mcpc/dist/lib/bridge-client.js'));
  /** @type {Record<string, any>} */
  const clients = {};
  for (const [name, path] of Object.entries(sockets)) {
    clients[name] = new BridgeClient(path);
    await clients[name].connect();
  }
  return {
    call: async (
      /** @type {string} */ server,
      /** @type {string} */ name,
      /** @type {Bench.Arguments} */ args,
    ) => textOf(await clients[server].request('callTool', { name, arguments: args })),
    list: (/** @type {string} */ server) => clients[server].request('listTools'),
    close: () => Promise.all(Object.values(clients).map((client) => client.close())),
  };
}
