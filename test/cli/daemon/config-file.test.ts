import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { config, server } from '../../faults/config.js';
import { toolherd } from '../../support/command.js';
import { startHerd } from '../../support/herd.js';

it('--config with another file than the daemon reads is refused by every command that connects', async () => {
  const { home, daemon } = await startHerd(config([server('one', 'good.mjs')]));
  const run = (...args: string[]) => toolherd(args, { cwd: home.folder, env: home.environment });
  const other = join(home.folder, 'other.yaml');
  writeFileSync(other, config([server('two', 'good.mjs')]));
  for (const command of [['status'], ['call', 'two.pid'], ['tools'], ['bridge'], ['up'], ['down']]) {
    const { status, stdout, stderr } = await run('--config', other, ...command);
    expect(stderr).toContain(
      `error: ConfigError: the daemon runs with ${home.configFile}, not with ${other}\n`,
    );
    expect(stderr).toContain(`toolherd up --replace --config ${other}`);
    expect([command, status, stdout]).toEqual([command, 78, '']);
  }
  const missing = join(home.folder, 'missing.yaml');
  const refused = await run('--config', missing, 'status');
  expect(refused).toMatchObject({ status: 78, stdout: '' });
  expect(refused.stderr).toContain(`${missing} does not exist`);

  symlinkSync(home.configFile, join(home.folder, 'link.yaml'));
  for (const same of [home.configFile, 'config.yaml', 'link.yaml'])
    expect((await run('--config', same, 'call', 'one.pid')).status).toBe(0);

  const { stdout, status } = await run('up', '--replace', '--config', other, '--json');
  expect(status).toBe(0);
  const { pid } = JSON.parse(stdout) as { pid: number };
  expect(home.adopt(pid).pid).not.toBe(daemon.pid);
  expect((await run('--config', other, 'call', 'two.pid')).status).toBe(0);
});
