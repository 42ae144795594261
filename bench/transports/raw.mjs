// A pipe or a socket, and lines.
import { spawn } from 'node:child_process';
import { connectLines, Lines, shakeHands } from './lines.mjs';

/** Of an MCP result and of one of `fleet/call`. */
function textOf(
  /** @type {{ content: any, isError: any, success: any, error: any }} */ {
    content,
    isError,
    success,
    error,
  },
) {
  if (isError || success === false) throw new Error(error?.message ?? content[0].text);
  return content[0].text;
}

async function openChild(
  /** @type {any} */ [command, ...args],
  /** @type {NodeJS.ProcessEnv | undefined} */ env,
) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'], env });
  const lines = new Lines(child.stdin, child.stdout);
  await shakeHands(lines);
  return { child, lines };
}

/** Children of the agent's own and nothing between; or one process that stands for a herd (`bridge`). */
/** @param {{ servers?: Record<string, [string, ...string[]]>, bridge?: [string, ...string[]], env?: NodeJS.ProcessEnv }} how */
export async function openPipe({ servers = {}, bridge, env }) {
  const shared = bridge && (await openChild(bridge, env));
  const opened = await Promise.all(
    Object.entries(servers).map(async ([name, command]) => [name, await openChild(command, env)]),
  );
  const children = Object.fromEntries(opened);
  return {
    async call(
      /** @type {string} */ server,
      /** @type {string} */ tool,
      /** @type {Bench.Arguments} */ args,
    ) {
      const { lines } = shared ?? children[server];
      const name = shared ? `${server}__${tool}` : tool;
      return textOf(await lines.request('tools/call', { name, arguments: args }));
    },
    list: async (/** @type {string} */ server) => (await children[server].lines.request('tools/list')).tools,
    close() {
      shared?.child.stdin.end();
      for (const { child } of Object.values(children)) child.kill('SIGKILL');
    },
  };
}

/** A socket on which MCP is spoken with `server__tool`; or `fleet/call`. */
export async function openSocket(
  /** @type {{ path: string, speaks?: 'mcp' | 'fleet' }} */ { path, speaks = 'mcp' },
) {
  const { lines, socket } = await connectLines(path);
  if (speaks === 'mcp') await shakeHands(lines);
  const calls = {
    mcp: (/** @type {string} */ server, /** @type {string} */ tool, /** @type {Bench.Arguments} */ args) =>
      lines.request('tools/call', { name: `${server}__${tool}`, arguments: args }),
    fleet: (/** @type {string} */ server, /** @type {string} */ tool, /** @type {Bench.Arguments} */ args) =>
      lines.request('fleet/call', { server, tool, arguments: args }),
  };
  const ask = calls[speaks];
  return {
    request: (/** @type {string} */ method, /** @type {object} */ params) => lines.request(method, params),
    call: async (
      /** @type {string} */ server,
      /** @type {string} */ tool,
      /** @type {Bench.Arguments} */ args,
    ) => textOf(await ask(server, tool, args)),
    list: async () => (await lines.request('tools/list')).tools,
    close: () => socket.destroy(),
  };
}
