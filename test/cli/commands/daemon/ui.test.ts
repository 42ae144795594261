import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { visitLink } from '../../../dashboard/visitor.js';
import { config } from '../../../faults/config.js';
import { toolherd } from '../../../support/command.js';
import { startHerd, until } from '../../../support/herd.js';
import { onTerminal } from '../../../support/terminal.js';

const LINK = /^http:\/\/127\.0\.0\.1:\d+\/ui\/open\?key=[\w-]{43}$/m;
const OPENER = process.platform === 'darwin' ? 'open' : 'xdg-open';

/** A herd, and an opener in front of PATH that only records what it gets: no test opens a browser. */
async function start(opener = 'exit 0') {
  const { home } = await startHerd(config([]));
  const bin = join(home.folder, 'bin');
  const opened = join(home.folder, 'opened');
  mkdirSync(bin);
  writeFileSync(join(bin, OPENER), `#!/bin/sh\necho "$1" > '${opened}'\n${opener}\n`);
  chmodSync(join(bin, OPENER), 0o755);
  const PATH = `${bin}${delimiter}${home.environment.PATH}`;
  const env = { ...home.environment, PATH, DISPLAY: ':0' };
  return { home, opened, env, cwd: home.folder };
}

describe('toolherd ui', () => {
  it('opens the browser with a link that works, and does not print the link', async () => {
    const { opened, env, cwd } = await start();
    const terminal = onTerminal(['ui'], { cwd, env });
    expect(await terminal.status).toBe(0);
    expect(terminal.screen()).toContain('opened the page of the herd in your browser');
    expect(terminal.screen()).not.toMatch(LINK);
    await visitLink(readFileSync(opened, 'utf8').trim());
  });

  it.each([
    ['the opener fails', 'exit 3', {}, `${OPENER} ended with status 3`],
    ['the user is there by ssh', 'exit 0', { SSH_CONNECTION: '1 2 3 4' }, 'you are on this machine by ssh'],
  ])('prints the link and the reason where %s', async (_case, opener, variables, reason) => {
    const { env, cwd } = await start(opener);
    const terminal = onTerminal(['ui'], { cwd, env: { ...env, ...variables } });
    expect(await terminal.status).toBe(0);
    expect(terminal.screen()).toContain(`no browser was opened: ${reason}`);
    const [link = ''] = LINK.exec(terminal.screen().replaceAll('\r', '')) ?? [];
    await visitLink(link);
  });

  it('--print opens no browser, and tells an ssh user how to reach the port', async () => {
    const { opened, env, cwd } = await start();
    const { status, stdout, stderr } = await toolherd(['ui', '--print'], {
      ...{ cwd, env: { ...env, SSH_CONNECTION: '1 2 3 4' } },
    });
    expect([status, stdout.trim()]).toEqual([0, expect.stringMatching(LINK)]);
    const { port } = new URL(stdout.trim());
    expect(stderr).toContain(`ssh -L ${port}:127.0.0.1:${port} HOST`);
    expect(existsSync(opened)).toBe(false);
  });

  it('opens no browser without a terminal or with --json', async () => {
    const { opened, env, cwd } = await start();
    const plain = await toolherd(['ui'], { cwd, env });
    expect(plain.stdout.trim()).toMatch(LINK);
    expect(plain.stderr).toContain('no browser was opened: no person sits at a terminal here');
    const json = JSON.parse((await toolherd(['ui', '--json'], { cwd, env })).stdout);
    expect(json).toEqual({
      api_version: 1,
      url: expect.stringMatching(LINK),
      expires_at: expect.any(String),
    });
    expect(existsSync(opened)).toBe(false);
  });

  it('waits no longer than a moment for a browser that the opener becomes', async () => {
    const { opened, env, cwd } = await start('exec sleep 20');
    const began = performance.now();
    const terminal = onTerminal(['ui'], { cwd, env });
    await until(() => existsSync(opened));
    expect(await terminal.status).toBe(0);
    expect(performance.now() - began).toBeLessThan(15_000);
  });

  it('is named by up and status on a terminal, and not in a pipe', async () => {
    const { env, cwd } = await start();
    for (const command of ['up', 'status']) {
      const shown = onTerminal([command], { cwd, env });
      expect(await shown.status).toBe(0);
      expect(shown.screen()).toContain('toolherd ui');
      const piped = await toolherd([command], { cwd, env });
      expect(piped.stdout + piped.stderr).not.toContain('toolherd ui');
    }
  });
});
