// The official client with a process: its own server, or something that stands for a whole herd (`bridge`); or on a
// relay's socket (`path`), the floor for a bridge.
import { connect } from 'node:net';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';

/**
 * The transport of the SDK for pipes, on a socket.
 * @typedef {import("@modelcontextprotocol/sdk/shared/transport.js").Transport} Transport
 */
class SocketTransport {
  #socket;
  #buffer = new ReadBuffer();
  /** @type {((message: any) => void) | undefined} */
  onmessage;
  /** @type {(() => void) | undefined} */
  onclose;
  /** @type {((error: Error) => void) | undefined} */
  onerror;

  constructor(/** @type {string} */ path) {
    this.#socket = connect(path);
  }

  async start() {
    this.#socket
      .on('data', (chunk) => {
        this.#buffer.append(chunk);
        for (let next = this.#buffer.readMessage(); next !== null; next = this.#buffer.readMessage())
          this.onmessage?.(next);
      })
      .on('error', (error) => this.onerror?.(error))
      .on('close', () => this.onclose?.());
  }

  async send(/** @type {any} */ message) {
    this.#socket.write(serializeMessage(message));
  }

  async close() {
    this.#socket.destroy();
  }
}

export async function openSdk(
  /** @type {{ servers?: Record<string, Bench.Argv>, bridge?: Bench.Argv, env?: any, path?: string }} */ {
    servers,
    bridge,
    env,
    path,
  },
) {
  const openOn = async (
    /** @type {import('@modelcontextprotocol/sdk/shared/transport.js').Transport} */ transport,
  ) => {
    const client = new Client({ name: 'bench', version: '1' });
    await client.connect(transport);
    return client;
  };
  const open = ([command, ...args] = /** @type {Bench.Argv} */ ([''])) =>
    openOn(new StdioClientTransport({ command, args, env, stderr: 'inherit' }));
  /** @type {Record<string, Client>} */
  const clients = {};
  const shared =
    path === undefined ? bridge && (await open(bridge)) : await openOn(new SocketTransport(path));
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
