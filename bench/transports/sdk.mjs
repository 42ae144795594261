// The official client with a process: its own server, or something that stands for a whole herd (`bridge`).
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

export async function openSdk({ servers, bridge, env }) {
  const open = async ([command, ...args]) => {
    const client = new Client({ name: 'bench', version: '1' });
    await client.connect(new StdioClientTransport({ command, args, env, stderr: 'inherit' }));
    return client;
  };
  const clients = {};
  const shared = bridge && (await open(bridge));
  await Promise.all(
    Object.entries(servers ?? {}).map(async ([name, command]) => void (clients[name] = await open(command))),
  );
  return {
    async call(server, tool, args) {
      const client = shared ?? clients[server];
      const name = shared ? `${server}__${tool}` : tool;
      const { content, isError } = await client.callTool({ name, arguments: args });
      if (isError) throw new Error(content[0].text);
      return content[0].text;
    },
    list: async (server) => (await (shared ?? clients[server]).listTools()).tools,
    close: () => Promise.all([shared, ...Object.values(clients)].map((client) => client?.close())),
  };
}
