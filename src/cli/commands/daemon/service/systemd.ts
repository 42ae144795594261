import { join } from 'node:path';
import type { Argv } from '../../../core/run-program.js';
import type { Service, ServiceContext } from './service.js';

const UNIT = 'toolherd.service';
const control = (...words: string[]): Argv => ['systemctl', '--user', ...words];

/** A unit of the user's systemd. */
export function systemdService(setting: ServiceContext): Service {
  return {
    manager: 'systemd',
    file: join(setting.xdgConfigFolder, 'systemd', 'user', UNIT),
    text: unitText(setting),
    install: [control('daemon-reload'), control('enable', '--now', UNIT)],
    update: [control('daemon-reload'), control('enable', UNIT), control('restart', UNIT)],
    uninstall: [control('disable', '--now', UNIT)],
    forget: [control('daemon-reload')],
    isActive: control('is-active', '--quiet', UNIT),
    hints: ['the service runs only while you are logged in; to keep it running: loginctl enable-linger'],
  };
}

/**
 * `--replace` takes over from a daemon that an agent has started meanwhile. systemd sends the stop signal only to the daemon,
 * which ends its servers, and then kills the processes that are left.
 */
function unitText({ command, environment, environmentFile }: ServiceContext): string {
  const words = [...command, 'up', '--foreground', '--replace'];
  return `[Unit]
Description=toolherd keeps MCP servers alive and shares them

[Service]
Type=exec
ExecStart=${words.map((word) => quoted(word).replaceAll('$', '$$$$')).join(' ')}
${Object.entries(environment)
  .map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}`)
  .join('\n')}
EnvironmentFile=-${environmentFile.replaceAll('%', '%%')}
Restart=on-failure
RestartSec=2
KillMode=mixed
TimeoutStopSec=30

[Install]
WantedBy=default.target
`;
}

/** In values of systemd backslashes, quotes and `%` have a meaning. */
function quoted(text: string): string {
  const safe = text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n')
    .replaceAll('%', '%%');
  return /^[\w@:=,./+%-]+$/.test(safe) ? safe : `"${safe}"`;
}
