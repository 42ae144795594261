import { existsSync } from 'node:fs';
import type { Command } from '../../core/command.js';
import { agentFileOf } from '../../core/config-paths.js';
import { EXIT } from '../../core/exit-codes.js';
import { helloWithFallback, openDaemon, socketOf } from '../../daemon/connect.js';
import { Bridge } from './bridge/bridge.js';
import { sayHello } from './bridge/hello.js';

export const verb: Command = {
  usage: 'bridge [--agent FILE] [--server NAME]',
  about: 'Offers the whole herd as one MCP server on stdin and stdout: what an agent runs to attach to it.',
  help: `Tools are called server__tool. With --server there is one server to see, under its own names. The daemon is started if
need be; when it restarts, the agent goes on as if nothing had been. After 'toolherd down' calls get an error until a daemon
runs again. Ends when stdin ends.

With an agent.yaml (--agent, or the nearest one from here upward) its servers are there too. The nearest one is left out
until you allow it ('toolherd allow'); one that is named by --agent has to be allowed.

Examples:
  toolherd bridge
  toolherd bridge --server github
  toolherd bridge --agent ~/projects/shop/agent.yaml

In an agent's config:
  {"mcpServers": {"herd": {"command": "toolherd", "args": ["bridge"]}}}

Exit status: 0 stdin has ended, 3 no daemon (with --no-autostart), 4 no such server, 77 the file\nnamed by --agent is not allowed.`,
  options: { server: { type: 'string' } },
  most: 0,
  async run(call) {
    const server = call.flags.server as string | undefined;
    const agent = agentFileOf(call);
    const needsView = agent !== undefined;
    const open = (autostart: boolean) =>
      openDaemon(call, { autostart, needsView }, (socket) =>
        helloWithFallback(call, agent, 'if allowed', (file) => sayHello(socket, { server, agent: file })),
      );
    const bridge = new Bridge({
      input: process.stdin,
      output: process.stdout,
      open,
      hasSocket: () => existsSync(socketOf(call)),
      note: (text) => call.output.note(text),
    });
    await bridge.run(await open(true));
    return EXIT.ok;
  },
};
