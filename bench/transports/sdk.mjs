// The official client with a process: its own server, or something that stands for a whole herd (`bridge`).
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

export async function openSdk(
  /** @type {{ servers: Record<string, Bench.Argv> | undefined, bridge: Bench.Argv, env: any }} */ {
    servers,
    bridge,
    env,
  },
) {
  const open = async (/** @type {any} */ [command, ...args]) => {
    const client = new Client({ name: 'bench', version: '1' });
    await client.connect(new StdioClientTransport({ command, args, env, stderr: 'inherit' }));
    return client;
  };
  /** @type {Record<string, Client>} */
  const clients = {};
  const shared = bridge && (await open(bridge));
  await Promise.all(
    Object.entries(servers ?? {}).map(async ([name, command]) => void (clients[name] = await open(command))),
  );
  return {
    async call(
      /** @type {string} */ server,
      /** @type {string} */ tool,
      /** @type {Bench.Arguments} */ args,
    ) {
      const client = shared ?? clients[server];
      const name = shared ? `${server}__${tool}` : tool;
      const { content, isError } = /** @type {Bench.Json} */ (
        await client.callTool({ name, arguments: args })
      );
      if (isError) throw new Error(content[0].text);
      return content[0].text;
    },
    list: async (/** @type {string} */ server) => (await (shared ?? clients[server]).listTools()).tools,
    close: () => Promise.all([shared, ...Object.values(clients)].map((client) => client?.close())),
  };
}
