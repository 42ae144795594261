import { existsSync } from 'node:fs';
import type { Hello } from '../../../fleet/hello.js';
import { agentFileOf } from '../../../install/load-options.js';
import { ToolherdError } from '../../../shared/errors.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { defineCommand } from '../../core/command.js';
import { helloWithFallback, noteWarnings, openDaemon, socketOf } from '../../daemon/connect.js';
import { Bridge } from './bridge/bridge.js';
import { sayHello } from './bridge/hello.js';
import { PROFILE_OPTION } from './profile-option.js';
import { SEPARATOR_OPTION, SURFACE_OPTION } from './surface-options.js';

export const command = defineCommand({
  name: 'bridge',
  summary: 'Offers the whole herd to an agent as one MCP server on stdin and stdout.',
  details: `An attached agent runs it; see "toolherd attach".
It ends when stdin ends.
A tool is called server__tool; with --separator _ server_tool. A client that
refuses such names needs another separator: __ (default), _, - or a dot.
With --server the agent sees one server, under its own tool names. With --profile
it sees the part of the herd that the config has under this name.
With --surface search the agent lists four tools that find, describe and call
all others. The default is daemon.surface.mode: auto, which does so where the
definitions of all tools have more than 20,000 tokens.
It starts the daemon if need be.
When the daemon restarts, the agent stays connected.
After "toolherd down" calls get an error until a daemon runs again.
The agent also sees the servers of an agent.yaml: the file of --agent, or the
nearest one upward. A file that you have not allowed is an error with --agent;
without it the bridge leaves the file out. See "toolherd allow".

In an agent's config:
  {"mcpServers": {"toolherd": {"command": "toolherd", "args": ["bridge"]}}}`,
  options: {
    server: { type: 'string', label: 'NAME', complete: 'server', about: 'this server alone' },
    profile: PROFILE_OPTION,
    separator: SEPARATOR_OPTION,
    surface: SURFACE_OPTION,
  },
  examples: [
    'toolherd bridge',
    'toolherd bridge --server github',
    'toolherd bridge --profile review',
    'toolherd bridge --surface search',
    'toolherd bridge --agent ~/projects/shop/agent.yaml',
  ],
  exits: {
    ok: 'stdin has ended',
    notRunning: 'with --no-autostart: no daemon runs',
    notFound: 'no such server, or no such profile',
    notAllowed: 'the file of --agent is not allowed',
  },
  ownTimeout: true,
  async run(context) {
    const { server, separator, profile, surface } = context.options;
    const agent = agentFileOf(context);
    const needsView = agent !== undefined || profile !== undefined;
    const open = (autostart: boolean) =>
      openDaemon(context, { autostart, needsView }, async (socket) => {
        const greet = (file: string | undefined) =>
          sayHello(socket, { server, agent: file, profile, separator, surface, folder: context.cwd });
        const hello = await helloWithFallback(context, agent, 'if allowed', greet);
        noteWarnings(context, hello);
        checkProfile(hello, profile);
        return hello;
      });
    const bridge = new Bridge({
      input: process.stdin,
      output: process.stdout,
      open,
      hasSocket: () => existsSync(socketOf(context)),
      note: (text) => context.output.note(text),
    });
    await bridge.run(await open(true));
    return EXIT.ok;
  },
});

/** A daemon of an earlier version would show the whole herd. One that is ending opens no view. */
function checkProfile({ profile: opened, daemon }: Hello, profile: string | undefined): void {
  if (profile === undefined || opened === profile || daemon.closing) return;
  throw new ToolherdError('the daemon knows no profiles', {
    why: `it is older (${daemon.version}) than this command`,
    fix: 'replace it with: toolherd up --replace',
  });
}
