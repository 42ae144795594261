import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { config, server } from '../../../faults/config.js';
import { prepareRegistry } from '../../../registry/command.js';
import { toolherd } from '../../../support/command.js';
import { startHerd, until } from '../../../support/herd.js';

const MINE = `# my agent
tools:
  - name: docs
    type: vectorstore
  - type: mcp
    name: memory # remembers
    description: Remembers
    server: memory
    command: npx
    args: ["-y", "pkg", "\${UNSET}"]
  - {type: mcp, name: off, description: d, server: s, command: uvx, enabled: false} # broken
`;

describe('toolherd enable and disable', () => {
  it('change enabled of the named servers alone; comments and order stay, and the JSON shape is stable', async () => {
    const { run, agentFile, read, write } = await prepareRegistry();
    write(agentFile, MINE);
    expect(await run('disable', 'memory', 'off')).toMatchObject({
      status: 0,
      stdout: `disabled: memory in ${agentFile}\nalready disabled: off in ${agentFile}\n`,
    });
    const disabled = MINE.replace('# remembers\n', '# remembers\n    enabled: false\n');
    expect(read(agentFile)).toBe(disabled);
    const enabled = await run('enable', 'off', '--json');
    expect(JSON.parse(enabled.stdout)).toEqual({
      api_version: 1,
      ok: true,
      servers: [{ name: 'off', registry_name: null, enabled: true, changed: true }],
      scope: 'local',
      file: agentFile,
      dry_run: false,
      diff: expect.stringMatching(/^-.*enabled: false\} # broken\n\+.*enabled: true\} # broken$/m),
      allowed: false,
      warnings: [],
    });
    expect(read(agentFile)).toBe(disabled.replace('enabled: false}', 'enabled: true}'));
  });

  it('enable names the variables that are missed from now on, and says that the file is not allowed', async () => {
    const { run, agentFile, write } = await prepareRegistry();
    write(agentFile, MINE.replace('# remembers\n', '\n    enabled: false\n'));
    const { status, stderr } = await run('enable', 'memory');
    expect(status).toBe(0);
    expect(stderr).toContain('warning: memory needs UNSET, not set here: set it where the daemon is started');
    expect(stderr).toContain(`not allowed to run yet: read it, then: toolherd allow ${agentFile}\n`);
  });

  it('--dry-run shows the change and writes nothing', async () => {
    const { run, agentFile, read, write } = await prepareRegistry();
    write(agentFile, MINE);
    const { status, stdout, stderr } = await run('disable', 'memory', '--dry-run');
    expect({ status, stderr }).toEqual({ status: 0, stderr: 'nothing was written (--dry-run)\n' });
    expect(stdout).toContain('\n+    enabled: false\n');
    expect(read(agentFile)).toBe(MINE);
  });

  it('an unknown server is exit 4, with the file that has it or the nearest name, and nothing is written', async () => {
    const { run, agentFile, configFile, read, write } = await prepareRegistry();
    write(agentFile, MINE);
    write(configFile, 'mcp_servers:\n  - {name: g, description: d, server: s, command: npx}\n');
    expect(await run('disable', 'memory', 'memroy')).toMatchObject({
      status: 4,
      stderr: expect.stringContaining("did you mean 'memory'?"),
    });
    expect((await run('disable', 'g')).stderr).toContain(`it is in ${configFile}: toolherd disable g -g\n`);
    expect((await run('disable', 'docs')).status).toBe(4);
    expect((await run('enable')).status).toBe(2);
    expect(read(agentFile)).toBe(MINE);
    expect((await run('disable', 'g', '-g')).status).toBe(0);
    expect(read(configFile)).toContain('command: npx, enabled: false}');
  });

  it('works for a source document that register --save wrote', async () => {
    const { run, configFile, read, write } = await prepareRegistry();
    const source = '{name: p, source_type: mcp, mcp_server_url: "https://example.com/mcp"}';
    write(configFile, `mcp_servers:\n  - ${source}\n`);
    expect(await run('disable', 'p', '-g')).toMatchObject({ status: 0 });
    expect(read(configFile)).toContain('/mcp", enabled: false}');
    expect((await run('list', '-g', '--json')).stdout).toContain('"enabled": false');
  });

  it('a running daemon takes up the change at once', async () => {
    const herd = await startHerd(config([server('good', 'good.mjs')]));
    const { folder, configFile } = herd.home;
    const run = (...args: string[]) => toolherd(args, { cwd: folder, env: { ...herd.home.environment } });
    expect(await run('call', 'good.echo', 'value=hi')).toMatchObject({ status: 0 });
    expect((await run('disable', 'good', '-g')).status).toBe(0);
    const called = await run('call', 'good.echo', 'value=hi');
    expect(called.status).toBe(1);
    expect(called.stderr).toContain('good: is disabled');
    expect(called.stderr).toContain(`in ${configFile}: toolherd enable good -g\n`);
    await until(async () => (await herd.fleet.status()).servers[0]?.pids.length === 0);
    expect((await run('enable', 'good', '-g')).status).toBe(0);
    expect(await run('call', 'good.echo', 'value=hi')).toMatchObject({ status: 0, stdout: 'hi' });
    expect(readFileSync(configFile, 'utf8')).toContain('"enabled": true');
  });

  it.each(['enable', 'disable', 'remove'])(
    '%s without an agent.yaml says so, and knows the names of the other file',
    async (verb) => {
      const { run, configFile, write } = await prepareRegistry();
      write(configFile, 'mcp_servers:\n  - {name: github, description: d, server: s, command: npx}\n');
      const { status, stderr } = await run(verb, 'gihtub');
      expect(status).toBe(4);
      expect(stderr).toContain("there is no agent.yaml here that could have a server 'gihtub'");
      expect(stderr).toContain(`fix: did you mean 'github' of ${configFile}? toolherd ${verb} github -g\n`);
    },
  );
});
