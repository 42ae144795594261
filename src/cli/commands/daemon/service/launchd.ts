import { join } from 'node:path';
import type { Argv } from '../../../core/run-program.js';
import type { Service, ServiceContext } from './service.js';

const LABEL = 'toolherd.daemon';

/** An agent of the user's launchd. */
export function launchdService(setting: ServiceContext): Service {
  const { home, uid } = setting;
  const file = join(home, 'Library', 'LaunchAgents', `${LABEL}.plist`);
  const control = (...words: string[]): Argv => ['launchctl', ...words];
  const domain = `gui/${uid}`;
  const target = `${domain}/${LABEL}`;
  return {
    manager: 'launchd',
    file,
    text: plist(setting),
    install: [control('bootstrap', domain, file)],
    update: [control('bootout', target), control('bootstrap', domain, file)],
    uninstall: [control('bootout', target)],
    forget: [],
    isActive: control('print', target),
    hints: [],
  };
}

/**
 * launchd reads no file of variables, so a shell reads it and then becomes the daemon. As with systemd, quotes around a value
 * are removed, and nothing in it is expanded or run.
 */
const START = [
  'if [ -f "$0" ]; then while IFS= read -r line || [ -n "$line" ]; do',
  'name=${line%%=*}; value=${line#*=};',
  'case $line in [A-Za-z_]*=*) ;; *) continue ;; esac;',
  'case $name in *[!A-Za-z0-9_]*) continue ;; esac;',
  'case $value in \\"*\\" | "\'"*"\'") value=${value#?}; value=${value%?} ;; esac;',
  'export "$name=$value"; done < "$0"; fi; exec "$@"',
].join(' ');

function plist({ command, environment, environmentFile, logFolder }: ServiceContext): string {
  const words = ['/bin/sh', '-c', START, environmentFile, ...command, 'up', '--foreground', '--replace'];
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${words.map((word) => `    <string>${escaped(word)}</string>`).join('\n')}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
${Object.entries(environment)
  .map(([name, value]) => `    <key>${name}</key>\n    <string>${escaped(value)}</string>`)
  .join('\n')}
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ExitTimeOut</key>
  <integer>30</integer>
  <key>StandardErrorPath</key>
  <string>${escaped(join(logFolder, 'service.log'))}</string>
</dict>
</plist>
`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
