import { describe, expect, it } from 'vitest';
import { config, server } from '../faults/config.js';
import { measured } from '../faults/measured.js';
import { startHerd, until } from '../support/herd.js';
import { onTerminal } from '../support/terminal.js';

const OURS = /\u001B\[(?:32|33|1;31|0)m|\r\u001B\[K|\u001B\[\?(?:1049|25)[hl]|\u001B\[[HKJ]/g;
const UNSAFE =
  /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/;

/** What the lists show of the server: one that is empty would be harmless too. */
const LISTED: Record<string, string> = { tools: 'echo', prompts: 'bad.all', resources: 'x://' };

/** What a terminal would obey, or take for a line of ours. */
function expectHarmless(screen: string): void {
  const rest = screen.replaceAll(OURS, '').replaceAll('\r\n', '\n');
  expect(rest).not.toMatch(UNSAFE);
  expect(rest).not.toContain('\r');
}

describe('a server that sends control characters, on a real terminal', () => {
  it('X2: no command prints them, whichever list, result or log they came in', async () => {
    const herd = await startHerd(config([server('bad', 'unsafe.mjs')]));
    const options = { cwd: herd.home.folder, env: herd.home.environment };
    const following = [['events'], ['logs', 'bad', '-f'], ['status', '--watch']].map((args) =>
      onTerminal(args, options),
    );
    for (const { screen } of following) await until(() => /listening|ends it/.test(screen()));
    const commands = [
      ['call', 'bad.echo'],
      ['call', 'bad.echo', '--raw'],
      ['call', 'bad.echo', '--json'],
      ['call', 'bad.fail'],
      ['call', 'bad.nosuch'],
      ['tools'],
      ['tools', '--schema'],
      ['tools', '--json'],
      ['prompts'],
      ['prompt', 'bad.all'],
      ['resources'],
      ['resource', 'bad', 'x://any'],
      ['status'],
      ['why', 'bad'],
      ['why', 'bad', '-v'],
      ['inspect', 'bad'],
      ['logs', 'bad'],
      ['logs', 'bad', '--json'],
      ['doctor'],
    ];
    for (const args of commands) {
      const terminal = onTerminal(args, options);
      await terminal.status;
      expect(terminal.screen().length).toBeGreaterThan(10);
      expect(terminal.screen()).toContain(LISTED[args[0] ?? ''] ?? '');
      expectHarmless(terminal.screen());
    }
    await until(() => following.slice(0, 2).every(({ screen }) => screen().includes('title')));
    for (const { press, status, screen } of following) {
      press('\u0003');
      await status;
      expectHarmless(screen());
    }
    measured(
      `X2: ${commands.length + following.length} commands on a terminal, no control character reached it`,
    );
  }, 60_000);
});
