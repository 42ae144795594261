import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { launchdService } from '../../../../src/cli/commands/daemon/service/launchd.js';
import { keptEnvironment } from '../../../../src/cli/commands/daemon/service/service.js';
import { systemdService } from '../../../../src/cli/commands/daemon/service/systemd.js';
import { COMMAND, toolherd } from '../../../support/command.js';
import { makeFolder } from '../../../support/folder.js';

const SETTING = {
  home: '/home/me',
  uid: 501,
  xdgConfigFolder: '/home/me/.config',
  logFolder: '/home/me/.local/state/toolherd/logs',
  command: ['/usr/bin/node', '/opt/50% "off" $1 & <more>/main.cjs'],
  environment: { PATH: '/usr/bin:/home/me/my bin' },
  environmentFile: '/home/me/.config/toolherd/service.env',
};

/**
 * A stand-in for systemctl, since the real one needs a session of systemd: it records its arguments, and reports that
 * the unit is active once it was enabled.
 */
const SYSTEMCTL = `#!/bin/sh
echo "$*" >> "$HOME/told"
case "$*" in
  *"enable --now"*|*restart*) : > "$HOME/active" ;;
  *disable*) /bin/rm -f "$HOME/active" ;;
  *is-active*) [ -f "$HOME/active" ] ;;
esac
`;

function begin({
  systemctl = SYSTEMCTL,
  folder = '',
}: {
  systemctl?: string | undefined;
  folder?: string;
} = {}) {
  const home = join(makeFolder({ [join(folder, 'bin/systemctl')]: systemctl }), folder);
  const file = join(home, '.config/systemd/user/toolherd.service');
  if (systemctl !== '') chmodSync(join(home, 'bin', 'systemctl'), 0o755);
  const run = async (...args: string[]) => {
    const env = { TOOLHERD_HOME: '', PATH: join(home, 'bin'), HOME: home };
    const { status, stdout, stderr } = await toolherd(['service', ...args], { cwd: home, env });
    const told = (text: string) =>
      text.replaceAll(home, '$').replaceAll(process.execPath, 'NODE').replaceAll(COMMAND, 'MAIN');
    return { status, stdout: told(stdout), stderr: told(stderr) };
  };
  const told = () => readFileSync(join(home, 'told'), 'utf8').trim().split('\n');
  return { home, file, run, told };
}

const UNIT = `[Unit]
Description=toolherd keeps MCP servers alive and shares them

[Service]
Type=exec
ExecStart=NODE MAIN up --foreground --replace
Environment=PATH=$/bin
EnvironmentFile=-$/.config/toolherd/service.env
Restart=on-failure
RestartSec=2
KillMode=mixed
TimeoutStopSec=30

[Install]
WantedBy=default.target
`;

describe.runIf(process.platform === 'linux')('toolherd service (systemctl is a stand-in)', () => {
  it('--dry-run shows the unit with the present PATH and the commands, and runs none', async () => {
    const { run, file, home } = begin();
    expect(await run('install', '--dry-run')).toEqual({
      status: 0,
      stdout: `# $/.config/systemd/user/toolherd.service\n${UNIT}
# then:
systemctl --user daemon-reload
systemctl --user enable --now toolherd.service
`,
      stderr: '',
    });
    expect([existsSync(file), existsSync(join(home, 'told'))]).toEqual([false, false]);
  });

  it('uninstall --dry-run prints commands that can be pasted, whatever the path', async () => {
    const { run } = begin({ folder: 'my home' });
    expect((await run('install')).status).toBe(0);
    expect((await run('uninstall', '--dry-run')).stdout).toBe(
      `systemctl --user disable --now toolherd.service
rm '$/.config/systemd/user/toolherd.service'
systemctl --user daemon-reload
`,
    );
  });

  it('installs, reports and uninstalls the unit', async () => {
    const { run, file, told } = begin();
    expect(await run('status')).toEqual({
      status: 3,
      stdout: 'not installed: $/.config/systemd/user/toolherd.service\n',
      stderr: '',
    });
    expect(await run('install')).toEqual({
      status: 0,
      stdout: 'installed: $/.config/systemd/user/toolherd.service\n',
      stderr: 'the service runs only while you are logged in; to keep it running: loginctl enable-linger\n',
    });
    expect((await run('status', '--json')).status).toBe(0);
    writeFileSync(file, 'old');
    expect((await run('status')).stderr).toContain('toolherd service install');
    expect(JSON.parse((await run('install', '--json')).stdout)).toEqual({
      api_version: 1,
      ok: true,
      manager: 'systemd',
      file: '$/.config/systemd/user/toolherd.service',
      dry_run: false,
      commands: [
        ['systemctl', '--user', 'daemon-reload'],
        ['systemctl', '--user', 'enable', 'toolherd.service'],
        ['systemctl', '--user', 'restart', 'toolherd.service'],
      ],
    });
    expect(JSON.parse((await run('status', '--json')).stdout)).toEqual({
      api_version: 1,
      manager: 'systemd',
      file: '$/.config/systemd/user/toolherd.service',
      installed: true,
      active: true,
      up_to_date: true,
    });
    expect(await run('uninstall')).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^uninstalled: /),
    });
    expect(existsSync(file)).toBe(false);
    expect(await run('uninstall')).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^not installed: /),
    });
    expect(told().filter((words) => !words.includes('is-active'))).toEqual([
      '--user daemon-reload',
      '--user enable --now toolherd.service',
      '--user daemon-reload',
      '--user enable toolherd.service',
      '--user restart toolherd.service',
      '--user disable --now toolherd.service',
      '--user daemon-reload',
    ]);
  });

  it('--config is written into the unit; a service.env that others can read causes a warning', async () => {
    const { run, home, file } = begin();
    mkdirSync(join(home, '.config', 'toolherd'), { recursive: true });
    writeFileSync(join(home, '.config', 'toolherd', 'service.env'), 'TOKEN=x\n', { mode: 0o644 });
    const { stderr } = await run('install', '--config', 'other.yaml');
    expect(stderr).toContain(
      'warning: others can read $/.config/toolherd/service.env; for you alone: chmod 600 ',
    );
    expect(readFileSync(file, 'utf8')).toContain(` --config ${home}/other.yaml up --foreground --replace\n`);
  });

  it('a failing systemctl is an error with the commands to run; an unknown action gets a suggestion', async () => {
    const failing = begin({ systemctl: '#!/bin/sh\necho "no bus" >&2\nexit 1\n' });
    expect(await failing.run('install')).toEqual({
      status: 1,
      stdout: '',
      stderr: `error: ToolherdError: systemd does not run the service yet
  why: systemctl --user daemon-reload: no bus
  fix: $/.config/systemd/user/toolherd.service is written; run: systemctl --user daemon-reload && systemctl --user enable --now toolherd.service; or without it: toolherd up
`,
    });
    expect(await failing.run('instal')).toMatchObject({
      status: 2,
      stderr: "error: UsageError: unknown action 'instal'\n  fix: did you mean 'install'?\n",
    });
    expect(await failing.run()).toMatchObject({ status: 2 });
  });

  it.runIf(existsSync('/usr/bin/systemd-analyze'))('systemd-analyze accepts the unit', async () => {
    const { run, home } = begin();
    const { stdout } = await run('install', '--dry-run', '--json');
    const text = JSON.parse(stdout).text.replaceAll('$', home).replaceAll('NODE', process.execPath);
    writeFileSync(join(home, 'toolherd.service'), text.replaceAll('MAIN', COMMAND));
    const { status, stderr } = spawnSync('systemd-analyze', ['--user', 'verify', './toolherd.service'], {
      cwd: home,
      env: { PATH: process.env.PATH ?? '', HOME: home, XDG_RUNTIME_DIR: home },
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});

describe('the service file', () => {
  it('a systemd service file escapes its special characters', () => {
    const { text, file } = systemdService(SETTING);
    expect(file).toBe('/home/me/.config/systemd/user/toolherd.service');
    expect(text).toContain(
      'ExecStart=/usr/bin/node "/opt/50%% \\"off\\" $$1 & <more>/main.cjs" up --foreground --replace\n',
    );
    expect(text).toContain('Environment="PATH=/usr/bin:/home/me/my bin"\n');
  });

  it('a launchd service file is a closed and escaped property list', () => {
    const { text, file, install, uninstall } = launchdService(SETTING);
    expect(file).toBe('/home/me/Library/LaunchAgents/toolherd.daemon.plist');
    expect(install).toEqual([['launchctl', 'bootstrap', 'gui/501', file]]);
    expect(uninstall).toEqual([['launchctl', 'bootout', 'gui/501/toolherd.daemon']]);
    const open: string[] = [];
    for (const [, close, name = '', self] of text
      .replace(/<[?!][^>]*>/g, '')
      .matchAll(/<(\/?)(\w+)[^>/]*(\/?)>/g)) {
      if (close === '/') expect(open.pop()).toBe(name);
      else if (self !== '/') open.push(name);
    }
    expect(open).toEqual([]);
    expect(text).toContain('<string>/opt/50% "off" $1 &amp; &lt;more&gt;/main.cjs</string>');
    expect(text).toContain('<key>PATH</key>\n    <string>/usr/bin:/home/me/my bin</string>');
    expect(text).toMatch(
      /<string>up<\/string>\s*<string>--foreground<\/string>\s*<string>--replace<\/string>/,
    );
  });

  it('a launchd service file has a shell that reads the variables and executes the command', () => {
    const lines = [
      'GREETING="hi there"',
      '# not=this',
      'TOKEN=a b&c;$(echo run) $HOME',
      'no name=x',
      "LAST='z'",
    ];
    const home = makeFolder({ 'service.env': lines.join('\n') });
    const { text } = launchdService({ ...SETTING, environmentFile: join(home, 'service.env') });
    const script = (/<string>-c<\/string>\s*<string>(.*?)<\/string>/.exec(text)?.[1] ?? '')
      .replaceAll('&lt;', '<')
      .replaceAll('&amp;', '&');
    const shown = 'printf "%s\\n" "$GREETING" "$TOKEN" "$LAST"';
    const words = ['-c', script, join(home, 'service.env'), '/bin/sh', '-c', shown];
    expect(spawnSync('/bin/sh', words, { encoding: 'utf8' })).toMatchObject({
      stdout: 'hi there\na b&c;$(echo run) $HOME\nz\n',
      stderr: '',
    });
    const none = ['-c', script, join(home, 'none.env'), '/bin/echo', 'here'];
    expect(spawnSync('/bin/sh', none, { encoding: 'utf8' }).stdout).toBe('here\n');
  });

  it('keeps the variables that name places, and no secret', () => {
    const environment = {
      PATH: '/bin',
      HOME: '/h',
      API_TOKEN: 's3cret',
      XDG_STATE_HOME: '',
      TOOLHERD_HOME: '/t',
    };
    expect(keptEnvironment(environment)).toEqual({ PATH: '/bin', TOOLHERD_HOME: '/t' });
  });
});
