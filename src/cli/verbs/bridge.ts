import { Bridge } from '../bridge/bridge.js';
import { sayHello } from '../bridge/hello.js';
import { openDaemon } from '../connection.js';
import { EXIT } from '../exit-codes.js';
import type { Verb } from '../verb.js';

export const verb: Verb = {
  usage: 'bridge [--server NAME]',
  about: 'Offers the whole herd as one MCP server on stdin and stdout: what an agent runs to attach to it.',
  help: `Tools are called server__tool. With --server there is one server to see, under its own names. The daemon is started if
need be; when it restarts, the agent goes on as if nothing had been. Ends when stdin ends.

Examples:
  toolherd bridge
  toolherd bridge --server github

In an agent's config:
  {"mcpServers": {"herd": {"command": "toolherd", "args": ["bridge"]}}}

Exit status: 0 stdin has ended, 3 no daemon (with --no-autostart), 4 no such server.`,
  options: { server: { type: 'string' } },
  most: 0,
  async run(call) {
    const server = call.flags.server as string | undefined;
    const open = (start: boolean) => openDaemon(call, start, (socket) => sayHello(socket, server));
    const bridge = new Bridge({
      input: process.stdin,
      output: process.stdout,
      open,
      note: (text) => call.output.note(text),
    });
    await bridge.run(await open(true));
    return EXIT.ok;
  },
};
