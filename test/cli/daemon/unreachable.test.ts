import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { VERSION } from '../../../src/shared/version.js';
import { config } from '../../faults/config.js';
import { toolherd } from '../../support/command.js';
import { type Home, makeHome, startHerd } from '../../support/herd.js';
import { silentSocket } from '../../support/silent-socket.js';

/** The half minute is over at once. */
const IMPATIENT = join(import.meta.dirname, '..', '..', 'support', 'impatient.cjs');

const away = {
  name: 'away',
  description: 'd',
  server: 's',
  transport: 'http',
  url: 'http://127.0.0.1:1/mcp',
};

/** A daemon of another version, as far as the command looks: no such daemon can be built from this tree. */
async function standIn({ socket }: Home, version: string, answers?: readonly string[]): Promise<Server> {
  const daemon = { version, pid: 1, config_error: null };
  const results: Record<string, unknown> = {
    'fleet/hello': { daemon, api_version: 1, agent: null },
    'fleet/status': { servers: [], daemon },
    'fleet/tools': { tools: [] },
    'fleet/shutdown': { stopped: ['a'], killed: [], attached: 2 },
  };
  mkdirSync(dirname(socket), { recursive: true, mode: 0o700 });
  const server = createServer((connection) => {
    createInterface({ input: connection }).on('line', (line) => {
      const { id, method } = JSON.parse(line);
      if (answers?.includes(method) === false) return;
      connection.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: results[method] })}\n`);
    });
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  onTestFinished(() => void server.close());
  return server;
}

describe('the command and what it cannot reach', () => {
  it('a remote server that refuses connections is exit 69, for each command that needs it', async () => {
    const { home } = await startHerd(config([away]));
    const options = { cwd: home.folder, env: home.environment };
    for (const args of [
      ['call', 'away.any'],
      ['call', 'away.any', 'k=v'],
      ['tools', 'away'],
      ['start', 'away', '--wait'],
    ])
      expect((await toolherd(args, options)).status).toBe(69);
  });

  it.each([
    ['down'],
    ['inspect', 'a'],
    ['register', 'entry.yaml'],
    ['unregister', 'a'],
    ['reload'],
    ['why', 'a'],
  ])('--timeout ends %s when the daemon answers only the hello: exit 124', async (...args) => {
    const home = makeHome(config([]));
    writeFileSync(join(home.folder, 'entry.yaml'), 'name: a\nserver: s\ncommand: npx\n');
    await standIn(home, VERSION, ['fleet/hello']);
    const options = { cwd: home.folder, env: home.environment };
    const { status, stdout, stderr } = await toolherd([...args, '--timeout', '300ms'], options);
    expect([status, stdout]).toEqual([124, '']);
    expect(stderr).toMatch(/^error: MCPTimeoutError: not done within 300ms\n/);
  });

  it('a daemon that announced its end has exited when down returns', async () => {
    const home = makeHome(config([]));
    const server = await standIn(home, VERSION);
    const heard: string[] = [];
    server.on('connection', (connection) =>
      createInterface({ input: connection }).on('line', (line) => {
        heard.push(JSON.parse(line).method);
        const looks = heard
          .slice(heard.indexOf('fleet/shutdown'))
          .filter((method) => method === 'fleet/status');
        // it takes its time: so often it is looked at, and is still there
        if (heard.includes('fleet/shutdown') && looks.length === 3) server.close();
      }),
    );
    const outcome = await toolherd(['down'], { cwd: home.folder, env: home.environment });
    expect(outcome).toMatchObject({ status: 0, stdout: 'stopped: a\n' });
    expect(outcome.stderr).toMatch(/^2 attached agents get errors until a daemon runs again/);
    expect(server.listening).toBe(false);
  });

  it('a daemon that ends before it answers down counts as ended', async () => {
    const home = makeHome(config([]));
    const server = await standIn(home, VERSION);
    server.on('connection', (connection) =>
      connection.on('data', (chunk) => {
        if (!chunk.includes('fleet/shutdown')) return;
        server.close();
        connection.destroy();
      }),
    );
    server.prependListener('connection', (connection) => {
      const { write } = connection;
      connection.write = ((text: string) =>
        text.includes('stopped') || write.call(connection, text)) as typeof write;
    });
    const outcome = await toolherd(['down'], { cwd: home.folder, env: home.environment });
    expect(outcome).toEqual({
      status: 0,
      stdout: 'the daemon (pid 1) was ending already, and has ended\n',
      stderr: '',
    });
  });

  it('down fails if another daemon was started meanwhile, and names its pid', async () => {
    const home = makeHome(config([]));
    const server = await standIn(home, VERSION);
    const heard: string[] = [];
    server.removeAllListeners('connection');
    server.on('connection', (connection) =>
      createInterface({ input: connection }).on('line', (line) => {
        const { id, method } = JSON.parse(line);
        heard.push(method);
        // another pid from the order on
        const daemon = {
          version: VERSION,
          pid: heard.includes('fleet/shutdown') ? 2 : 1,
          config_error: null,
        };
        const result = { daemon, api_version: 1, agent: null, servers: [], stopped: ['a'], killed: [] };
        connection.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
      }),
    );
    const options = { cwd: home.folder, env: home.environment };
    const outcome = await toolherd(['down'], options);
    expect([outcome.status, outcome.stdout]).toEqual([1, 'stopped: a\n']);
    expect(outcome.stderr).toMatch(
      /^error: AlreadyRunningError: the daemon \(pid 1\) has ended, but another one \(pid 2\) serves\n {2}fix: /,
    );
    expect(heard.slice(heard.indexOf('fleet/shutdown'))).toEqual(['fleet/shutdown', 'fleet/status']);
    heard.length = 0;
    const { status, stdout } = await toolherd(['down', '--json'], options);
    expect([status, JSON.parse(stdout)]).toMatchObject([1, { stopped: ['a'], killed: [], next_pid: 2 }]);
  });

  it('a daemon that ends during a request is exit 69', async () => {
    const home = makeHome(config([]));
    const server = await standIn(home, VERSION);
    server.removeAllListeners('connection');
    server.on('connection', (connection) => connection.once('data', () => connection.destroy()));
    const options = { cwd: home.folder, env: home.environment };
    expect((await toolherd(['status'], options)).status).toBe(69);
  });

  it('a daemon that accepts connections and never answers is exit 69 after 30 s, for each command', async () => {
    const home = makeHome(config([]));
    await silentSocket(home.socket);
    const env = { ...home.environment, NODE_OPTIONS: `--require ${IMPATIENT}` };
    for (const args of [
      ['status'],
      ['call', 'one.any'],
      ['tools'],
      ['down'],
      ['up'],
      ['up', '--replace'],
      ['up', '--foreground', '--replace'],
      ['bridge'],
    ]) {
      const { status, stderr } = await toolherd(args, { cwd: home.folder, env });
      expect([args, status]).toEqual([args, 69]);
      expect(stderr).toContain(`the process that listens on ${home.socket} has not answered for 30 s`);
      expect(stderr).toContain(`the pid of a daemon is in ${home.socket}.lock`);
    }
  });
});

describe('a daemon of another version', () => {
  it.each(['0.0.9', '0.0.9-beta.1', `${VERSION}-rc.1`])(
    'that is older (%s) causes one warning with a fix',
    async (version) => {
      const home = makeHome(config([]));
      await standIn(home, version);
      const options = { cwd: home.folder, env: home.environment };
      for (const args of [['status'], ['tools']]) {
        const { stderr, status } = await toolherd(args, options);
        expect(stderr).toBe(
          `warning: the daemon is older (${version}) than this command (${VERSION}); replace it with: toolherd up --replace\n`,
        );
        expect(status).toBe(0);
      }
      expect((await toolherd(['status', '-q'], options)).stderr).toBe('');
    },
  );

  it.each([VERSION, '99.0.0'])('that is not older (%s) causes none', async (version) => {
    const home = makeHome(config([]));
    await standIn(home, version);
    const options = { cwd: home.folder, env: home.environment };
    expect((await toolherd(['status'], options)).stderr).toBe('');
  });
});
