import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, lstatSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Home, startHerd, until } from '../support/herd.js';
import { config } from './config.js';
import { measured } from './measured.js';

const OTHER_USER = 65534;
const isRoot = process.getuid?.() === 0;
const modeOf = (path: string) => (lstatSync(path).mode & 0o777).toString(8);
const modesOf = ({ socket }: Home) => [modeOf(dirname(socket)), modeOf(socket)];

/** Connects as another user. Only root can do that; other users only check the modes. */
const STRANGER = `
  const { connect } = require('node:net');
  process.setgroups([]);
  process.setgid(${OTHER_USER});
  process.setuid(${OTHER_USER});
  const socket = connect(process.argv[1]);
  socket.on('connect', () => socket.write('{"jsonrpc":"2.0","id":1,"method":"fleet/status"}\\n'));
  socket.on('data', () => { console.log('answered'); socket.destroy(); });
  socket.on('error', ({ code }) => console.log(code));
`;

async function strangerHears(socket: string): Promise<string> {
  const child = spawn(process.execPath, ['-e', STRANGER, socket], {
    cwd: '/',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [said, complaint] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return said.trim() || complaint;
}

/** A home that every user may enter, except the socket's folder; otherwise another user would fail too early. */
async function openHome() {
  const herd = await startHerd(config([]));
  chmodSync(herd.home.folder, 0o711);
  return herd;
}

/** Says why where it cannot be tried. */
async function canBeTried({ folder }: Home): Promise<boolean> {
  const socket = join(folder, 'open.sock');
  const server = createServer((one) => one.end('hello')).listen({ path: socket, writableAll: true });
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const heard = isRoot ? await strangerHears(socket) : 'not root';
  if (heard !== 'answered')
    console.warn(`S6: this process cannot become another user (${heard}); only modes were checked`);
  return heard === 'answered';
}

describe('S6: another user', () => {
  it('gets EACCES at the socket', async () => {
    const { home } = await openHome();
    expect(modesOf(home)).toEqual(['700', '600']);
    const isTried = await canBeTried(home);
    if (isTried) expect(await strangerHears(home.socket)).toBe('EACCES');
    measured(`S6: ${isTried ? 'another user gets EACCES' : 'only modes were checked'}`);
  });

  it('gets no access by loosened modes: the daemon restores 0700 and 0600, and logs it', async () => {
    const { home, fleet } = await openHome();
    chmodSync(home.socket, 0o666);
    chmodSync(dirname(home.socket), 0o755);
    await until(() => modesOf(home).join() === '700,600');
    if (await canBeTried(home)) expect(await strangerHears(home.socket)).toBe('EACCES');
    const log = () => readFile(join(home.folder, 'state', 'logs', 'daemon.log'), 'utf8');
    await until(async () => /"kind":"loosened".*closed to them again/.test(await log()));
    expect((await fleet.status()).servers).toEqual([]);
  });
});
