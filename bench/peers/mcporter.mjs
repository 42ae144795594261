// mcporter: a daemon that keeps servers warm. It needs Node 24; its servers run on the Node of all the others.
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { install, installNode } from '../../scripts/shared/install.mjs';
import { end, environment, makeFolder, removeFolder, start } from '../children.mjs';
import { until } from '../patience.mjs';
import { openAgent } from '../systems/agent.mjs';
import { entriesOf, namesIn } from '../systems/servers.mjs';

export function findMcporter() {
  const { folder, version } = install('mcporter@0.12.3', { folder: 'bench/mcporter', env: environment });
  const node = installNode('24', environment);
  const cli = join(folder, 'node_modules/mcporter/dist/cli.js');

  /** A daemon, whose servers start when they are first asked for something. */
  async function launch(/** @type {Bench.Commands} */ servers) {
    const home = makeFolder();
    const config = join(home, 'mcporter.json');
    const mcpServers = entriesOf(servers, { lifecycle: 'keep-alive' });
    writeFileSync(config, JSON.stringify({ mcpServers, imports: [] }));
    const env = { ...environment, HOME: home, MCPORTER_DAEMON_DIR: home };
    const options = { cwd: home, env };
    const args = [cli, '--config', config, 'daemon', 'start', '--foreground'];
    const child = start(node, args, { ...options, stdio: 'ignore' });
    const hasSocket = async () => readdirSync(join(home, 'daemon')).some((name) => name.endsWith('.sock'));
    await until('the start of mcporter', hasSocket);
    return {
      pid: child.pid,
      transport: { kind: 'mcporter', folder, config },
      agentOptions: { execPath: node, env },
      command: { command: node, args: [cli, '--config', config, 'call', 'e0.echo', 'text=hi'], options },
      async close() {
        await end(child);
        removeFolder(home);
      },
    };
  }

  async function list(
    /** @type {Bench.System} */ system,
    /** @type {Bench.Agent} */ agent,
    /** @type {Bench.Commands} */ servers,
  ) {
    await agent.ask('open', system.transport);
    await agent.ask('list', { servers: namesIn(servers) });
  }

  return {
    name: 'mcporter',
    version,
    async start(/** @type {Bench.Commands} */ servers) {
      const system = await launch(servers);
      const agent = await openAgent(undefined, system.agentOptions);
      await list(system, agent, servers);
      await agent.close();
      return system;
    },
    async startTime(/** @type {Bench.Commands} */ servers) {
      const begun = performance.now();
      const system = await launch(servers);
      // the agent's own start is no part of it
      const waiting = performance.now();
      const agent = await openAgent(undefined, system.agentOptions);
      await agent.ask('nothing');
      const waited = performance.now() - waiting;
      await list(system, agent, servers);
      const ms = performance.now() - begun - waited;
      await agent.close();
      await system.close();
      return ms;
    },
  };
}
