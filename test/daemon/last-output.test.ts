import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { connectFleet } from '../../src/library/connect-fleet.js';
import { readLog } from '../../src/log/read-log.js';
import { config, server } from '../faults/config.js';
import { makeHome, until } from '../support/herd.js';

const CANARY = 'canary-7d20ee';

const leaving = (name: string) => server(name, 'says-goodbye.mjs', { args: [`\${${name.toUpperCase()}}`] });
const agentFile = (...names: string[]) =>
  JSON.stringify({ tools: names.map((name) => ({ type: 'mcp', ...leaving(name) })) });

it('X1: the last output of a removed server is redacted', async () => {
  const home = makeHome(config([leaving('configured')]));
  for (const name of ['CONFIGURED', 'REGISTERED', 'AGENTS']) home.environment[name] = `${CANARY}-${name}`;
  const agent = join(home.folder, 'agent.yaml');
  writeFileSync(agent, agentFile('agents'));
  await home.start();
  const fleet = await connectFleet({ socket: home.socket, agent });
  onTestFinished(() => fleet.close());
  await fleet.register(leaving('registered'));
  const names = ['configured', 'registered', 'agents'];
  const started = await fleet.start({ servers: names }, true);
  expect(started.map(({ state }) => state)).toEqual(names.map(() => 'connected'));

  const lastWords = (name: string) =>
    until(async () => {
      const lines = await readLog(join(home.folder, 'state', 'logs', 'servers', `${name}.log`));
      return lines.find(({ text }) => text.startsWith('bye'))?.text;
    });
  writeFileSync(agent, agentFile());
  expect(await lastWords('agents')).toBe('bye [redacted:AGENTS]');
  await fleet.unregister('registered');
  expect(await lastWords('registered')).toBe('bye [redacted:REGISTERED]');
  home.configure(config([]));
  expect(await lastWords('configured')).toBe('bye [redacted:CONFIGURED]');
});
