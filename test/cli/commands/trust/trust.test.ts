import { appendFileSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toolherd } from '../../../support/command.js';
import { makeFolder } from '../../../support/folder.js';

const AGENT = `tools:
  - name: files
    description: Files
    type: mcp
    server: fs
    command: npx
    args: ["-y", "pkg", "\${UNSET_VARIABLE}"]
    env: { API_KEY: "canary-value" }
    envFile: .env
  - name: remote
    description: Remote
    type: mcp
    server: r
    transport: http
    url: https://example.com/mcp
`;

const PLAIN = 'tools:\n  - {type: mcp, name: a, description: d, server: s, command: npx}\n';

const files = { 'agent.yaml': AGENT, '.env': 'TOKEN=canary-value\n' };

describe('toolherd allow and revoke', () => {
  it('allow needs --yes if there is no terminal: exit 77; it shows what would run, but no values', async () => {
    const cwd = makeFolder(files);
    const { status, stdout, stderr } = await toolherd(['allow'], { cwd });
    const file = join(cwd, 'agent.yaml');
    expect(stderr).toBe(
      [
        `error: TrustRequiredError: ${file} was never allowed to run`,
        `${file} would, each time it is used:`,
        '  files (stdio)',
        '    runs         npx -y pkg ${UNSET_VARIABLE}',
        `    in           ${cwd}`,
        '    sets         API_KEY',
        '    takes        UNSET_VARIABLE',
        '    reads        .env, which sets TOKEN',
        '  remote (http)',
        '    connects to  https://example.com/mcp',
        '  why: a project file can start any program, so nothing in it is used before you allow it',
        `  fix: read it, then: toolherd allow ${file} --yes`,
        '',
      ].join('\n'),
    );
    expect(stdout).toBe('');
    expect(status).toBe(77);
  });

  it('the store of allowed files has mode 0600, and revoke removes the file from it', async () => {
    const cwd = makeFolder(files);
    const allowed = await toolherd(['allow', '--yes'], { cwd });
    expect(allowed).toMatchObject({ status: 0, stdout: `allowed: ${join(cwd, 'agent.yaml')}\n` });
    const store = join(cwd, 'home/state/trust.json');
    expect(statSync(store).mode & 0o777).toBe(0o600);
    expect(statSync(join(cwd, 'home/state')).mode & 0o777).toBe(0o700);
    const revoked = await toolherd(['revoke', '--json'], { cwd });
    expect(JSON.parse(revoked.stdout)).toEqual({
      api_version: 1,
      ok: true,
      file: join(cwd, 'agent.yaml'),
      was_allowed: true,
    });
    expect(JSON.parse((await toolherd(['revoke', '--json'], { cwd })).stdout)).toMatchObject({
      was_allowed: false,
    });
  });

  it('X3: allow shows the variables that the file would take, from every field of an entry', async () => {
    const entry = `{type: mcp, name: r, description: d, server: s, transport: http, url: "https://example.com/\${A:-x}",
      headers: {X-Trace: "\${env:B} \${B}", Y: "\${OWN}"}, env: {OWN: "\${C}"}, config: {deep: [{er: "\${D}"}]}, roots: ["\${E}"]}`;
    const cwd = makeFolder({ 'agent.yaml': `tools:\n  - ${entry}\n` });
    const { stderr } = await toolherd(['allow'], { cwd, env: { B: 'canary-value' } });
    expect(stderr).toContain('\n    takes        A, B, C, D, E\n');
    expect(stderr).not.toContain('canary-value');
  });

  it('X3: allow shows the folders that become MCP roots, and the names that an envFile sets', async () => {
    const entry = `{type: mcp, name: a, description: d, server: s, command: npx, envFile: .env,
      roots: [/srv/keys, "x\\u202Ey"], config: {allowed_directories: ["/", "\${userHome}"]}}`;
    const cwd = makeFolder({ 'agent.yaml': `tools:\n  - ${entry}\n`, '.env': 'B=canary-value\nA=1\n' });
    const { stderr } = await toolherd(['allow'], { cwd });
    expect(stderr).toContain('\n    reads        .env, which sets A, B\n');
    expect(stderr).toContain("\n    may use      /srv/keys 'x\\u{202e}y' / ${userHome}\n");
    expect(stderr).not.toContain('canary-value');
    const { error } = JSON.parse((await toolherd(['allow', '--json'], { cwd })).stdout);
    expect(error.would_run).toMatchObject([
      { env_file_names: ['A', 'B'], roots: ['/srv/keys', 'x\u202Ey', '/', '${userHome}'] },
    ]);
  });

  it('X3: allow refuses a file whose envFile sets a variable that changes what runs: exit 78', async () => {
    const cwd = makeFolder({ ...files, '.env': 'npm_config_package=file:./evil\n' });
    const { status, stderr } = await toolherd(['allow', '--yes'], { cwd });
    expect(stderr).toContain("'npm_config_package' may not be set from a project's file (in .env)");
    expect(status).toBe(78);
  });

  it('X3: no text of the file can look like a line of the question, or hide in it', async () => {
    const forged = '"pkg\\n  safe (stdio)\\n    runs         npx harmless"';
    const entry = `{type: mcp, name: a, description: d, server: s, command: npx, args: [${forged}, "b\\u200Bc"], cwd: "x\\u202Ey"}`;
    const cwd = makeFolder({ 'agent.yaml': `tools:\n  - ${entry}\n` });
    const { stderr } = await toolherd(['allow'], { cwd });
    expect(stderr).toContain(
      "npx 'pkg\\u{a}  safe (stdio)\\u{a}    runs         npx harmless' 'b\\u{200b}c'\n",
    );
    expect(stderr).toContain('x\\u{202e}y\n');
    expect(stderr.match(/^ {4}runs/gm)).toHaveLength(1);
  });

  it('the suggested command quotes the path', async () => {
    const cwd = makeFolder({ '$(touch x); y/agent.yaml': AGENT, '$(touch x); y/.env': '' });
    const file = join(cwd, '$(touch x); y', 'agent.yaml');
    const { stderr } = await toolherd(['allow', file], { cwd });
    expect(stderr).toContain(`then: toolherd allow '${file}' --yes\n`);
  });

  it('the JSON shape is stable, without values', async () => {
    const cwd = makeFolder(files);
    const { status, stdout } = await toolherd(['allow', '--json'], { cwd });
    expect(status).toBe(77);
    expect(stdout).not.toContain('canary-value');
    expect(JSON.parse(stdout)).toEqual({
      api_version: 1,
      ok: false,
      error: {
        type: 'TrustRequiredError',
        message: `${join(cwd, 'agent.yaml')} was never allowed to run`,
        why: expect.any(String),
        fix: expect.stringContaining('toolherd allow'),
        would_run: [
          {
            name: 'files',
            transport: 'stdio',
            run: ['npx', '-y', 'pkg', '${UNSET_VARIABLE}'],
            cwd,
            env: ['API_KEY'],
            variables: ['UNSET_VARIABLE'],
            env_file: '.env',
            env_file_names: ['TOKEN'],
          },
          { name: 'remote', transport: 'http', url: 'https://example.com/mcp', env: [] },
        ],
      },
    });
  });

  it('X3: twelve files that are allowed at once, beside a revoke, are all remembered', async () => {
    const names = Array.from({ length: 12 }, (_, at) => `p${at}`);
    const cwd = makeFolder(
      Object.fromEntries(['gone', ...names].map((name) => [`${name}/agent.yaml`, PLAIN])),
    );
    await toolherd(['allow', '--yes', 'gone/agent.yaml'], { cwd });
    const all = names.map((name) => toolherd(['allow', '--yes', `${name}/agent.yaml`], { cwd }));
    const outcomes = await Promise.all([...all, toolherd(['revoke', 'gone/agent.yaml'], { cwd })]);
    expect(outcomes.map(({ status }) => status)).toEqual(outcomes.map(() => 0));
    const { files: kept } = JSON.parse(readFileSync(join(cwd, 'home/state/trust.json'), 'utf8'));
    expect(Object.keys(kept).sort()).toEqual(names.map((name) => join(cwd, name, 'agent.yaml')).sort());
    expect(readdirSync(join(cwd, 'home/state'))).toEqual(['trust.json']);
  });

  it('a file with problems is not allowed: exit 78', async () => {
    const cwd = makeFolder(files);
    appendFileSync(join(cwd, 'agent.yaml'), '    urll: x\n');
    expect((await toolherd(['allow', '--yes'], { cwd })).status).toBe(78);
  });

  it('allow and revoke fail if there is no agent.yaml: exit 2', async () => {
    const cwd = makeFolder();
    const { status, stderr } = await toolherd(['allow'], { cwd });
    expect(stderr).toBe('error: UsageError: there is no agent.yaml here or above\n  fix: name the file\n');
    expect(status).toBe(2);
  });

  it('allow says of an allowed file that it is allowed already, and of a changed one that it has changed', async () => {
    const cwd = makeFolder({ 'agent.yaml': PLAIN });
    const file = join(cwd, 'agent.yaml');
    await toolherd(['allow', '--yes'], { cwd });
    const again = { status: 0, stdout: `already allowed: ${file}\n`, stderr: '' };
    expect(await toolherd(['allow'], { cwd })).toMatchObject(again);
    expect(await toolherd(['allow', '--yes'], { cwd })).toMatchObject(again);
    appendFileSync(file, '# more\n');
    expect(await toolherd(['allow'], { cwd })).toMatchObject({
      status: 77,
      stderr: expect.stringContaining(`${file} has changed since it was allowed`),
    });
  });
});
