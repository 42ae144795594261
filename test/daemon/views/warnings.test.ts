import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startBridge } from '../../support/bridge.js';
import { until } from '../../support/until.js';
import { shared, startWorld } from './support.js';

const linesWith = (file: string, text: string) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.includes(text));

it("the warnings of an agent's file are in the daemon's log once, and the bridge prints them", async () => {
  const world = await startWorld([]);
  const { description: _, ...undescribed } = shared('notes');
  const project = world.project('red', [undescribed as ReturnType<typeof shared>]);
  await project.allow();
  const message = "'notes' has no description";
  const log = join(world.home.folder, 'state/logs/daemon.log');

  const bridge = startBridge(world.home, { cwd: project.folder });
  let stderr = '';
  bridge.child.stderr!.on('data', (chunk: Buffer) => {
    stderr += chunk;
  });
  await until(() => stderr.includes('fix: '));
  expect(stderr).toContain(`warning: MCPConfigError: ${message}\n  at ${project.file}:2:5 (tools[0])\n`);
  await world.agent().see(project.file);
  await until(() => linesWith(log, message).length > 0);
  expect(linesWith(log, message)).toHaveLength(1);

  bridge.child.stdin!.end();
  expect(await bridge.exit).toBe(0);
});

it('a warning of a changed global config is in the log of the daemon', async () => {
  const { home, fleet } = await startWorld([]);
  const entry = '{name: bare, server: s, command: npx, enabled: false}';
  home.configure(`version: "1.0"\nmcp_servers:\n  - ${entry}\n`);
  await fleet.reload();
  const log = join(home.folder, 'state/logs/daemon.log');
  await until(() => linesWith(log, "'bare' has no description").length === 1);
});
