import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LIST_WAIT } from '../faults/config.js';
import { DIST } from '../support/command.js';
import { makeFolder } from '../support/folder.js';
import { type Home, makeHome, until } from '../support/herd.js';
import { whyNoNatsServer } from '../support/nats-server.js';

const ROOT = join(import.meta.dirname, '..', '..');

/** The built-in herd, whose servers are those of this folder's node_modules. */
function builtInHerd(): Home {
  const text = readFileSync(join(ROOT, 'examples', 'demo', 'config.yaml'), 'utf8');
  // the agent loop lists the whole herd, which a busy machine may take longer to boot than the default of 2 s
  const home = makeHome(`${text}daemon: {list_wait: ${LIST_WAIT}}\n`);
  home.environment.TOOLHERD_PROJECT = ROOT;
  return home;
}

/** The examples, in a project that has the package as it was just built. */
function project(): string {
  const folder = makeFolder();
  cpSync(join(ROOT, 'examples'), join(folder, 'examples'), { recursive: true });
  const own = join(folder, 'node_modules', 'toolherd');
  mkdirSync(own, { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(own, 'package.json'));
  symlinkSync(DIST, join(own, 'dist'));
  symlinkSync(join(ROOT, 'node_modules', 'xstate'), join(folder, 'node_modules', 'xstate'));
  return folder;
}

interface Said {
  stdout: string;
  stderr: string;
}

function run(command: string, args: readonly string[], env: Record<string, string>): Promise<Said> {
  return new Promise((resolve, reject) => {
    execFile(command, args, { cwd: project(), env }, (error, stdout, stderr) => {
      if (error === null) resolve({ stdout, stderr });
      else reject(new Error(`${command} ${args.join(' ')}: ${error.message}\n${stdout}\n${stderr}`));
    });
  });
}

const works = (script: string) => {
  try {
    execFileSync('/bin/sh', ['-c', script], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

/** For machines that have neither socat nor nc: the little of OpenBSD's nc that the example uses. It is no nc. */
const STAND_IN = `#!${process.execPath}
const args = process.argv.slice(2);
if (args.includes('-h')) {
  console.error('\\t-N\\t\\tShutdown the network socket after EOF on stdin\\n\\t-U\\t\\tUse UNIX domain socket');
  process.exit(1);
}
const socket = require('node:net').connect({ path: args.at(-1), allowHalfOpen: true });
process.stdin.pipe(socket);
socket.pipe(process.stdout);
`;

/** A PATH on which there is something that connects to a socket: the machine's own where it has one. */
function pathWithConnector(path: string): string {
  if (works('command -v socat') || works("nc -h 2>&1 | grep -q -e '-U'")) return path;
  const folder = makeFolder({ nc: STAND_IN });
  chmodSync(join(folder, 'nc'), 0o755);
  return `${folder}:${path}`;
}

describe('the examples, against the built-in herd', () => {
  it('the shell script calls a tool and prints the herd and an error', async () => {
    const home = builtInHerd();
    await home.start();
    const env = { ...home.environment, PATH: pathWithConnector(home.environment.PATH ?? '') };
    const { stdout } = await run('/bin/sh', ['examples/shell/herd.sh'], env);
    expect(stdout.split('\n')).toEqual([
      'A call:',
      '  Echo: hello from a shell',
      'The herd:',
      '  everything is connected',
      '  files is created',
      '  memory is created',
      'An error:',
      "  ServerNotFoundError: did you mean 'everything'?",
      '',
    ]);
  });

  it('the shell script without socat and nc names what it needs', async () => {
    const env = { PATH: makeFolder(), TOOLHERD_SOCKET: '/nowhere' };
    const running = run('/bin/sh', ['examples/shell/herd.sh'], env);
    await expect(running).rejects.toThrow('this needs socat');
  });

  it('the shell script fails where no daemon listens', async () => {
    const home = builtInHerd();
    const env = { ...home.environment, PATH: pathWithConnector(home.environment.PATH ?? '') };
    await expect(run('/bin/sh', ['examples/shell/herd.sh'], env)).rejects.toThrow('herd.sh');
  });

  it.each([
    ['/bin/sh', 'examples/shell/herd.sh'],
    ['python3', 'examples/python/herd.py'],
  ])(
    '%s finds the socket below the state folder where XDG_RUNTIME_DIR is not set',
    async (program, script) => {
      // short: the path of a socket may have 103 bytes
      const state = mkdtempSync(join(tmpdir(), 'toolherd-state-'));
      onTestFinished(() => rmSync(state, { recursive: true, force: true }));
      const home = builtInHerd();
      const { TOOLHERD_HOME: _, TOOLHERD_SOCKET: __, XDG_RUNTIME_DIR: ___, ...rest } = home.environment;
      const env = { ...rest, XDG_STATE_HOME: state, PATH: pathWithConnector(rest.PATH ?? '') };
      const { stdout: path } = await run(process.execPath, [join(DIST, 'bin', 'main.cjs'), 'socket'], env);
      expect(path).toBe(`${join(state, 'toolherd', 'run', 'toolherd.sock')}\n`);
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      await home.start();
      symlinkSync(home.socket, path.trimEnd());
      expect((await run(program, [script], env)).stdout).toContain(
        program === 'python3' ? '6.' : 'Echo: hello',
      );
    },
  );

  it('the Python script calls a tool three times', async () => {
    expect(
      works('command -v python3'),
      'this machine has no python3: install it, the example has to be run',
    ).toBe(true);
    const home = builtInHerd();
    await home.start();
    const { stdout } = await run('python3', ['examples/python/herd.py'], home.environment);
    expect(stdout).toBe('The sum of 1 and 1 is 2.\nThe sum of 2 and 2 is 4.\nThe sum of 3 and 3 is 6.\n');
  });

  it.each([
    ['with the daemon', []],
    ['in process', ['--in-process']],
  ])('the Node script makes, cancels and watches calls %s', async (_, flags) => {
    const home = builtInHerd();
    if (flags.length === 0) await home.start();
    const { stdout, stderr } = await run(
      process.execPath,
      ['examples/node/herd.mjs', ...flags],
      home.environment,
    );
    expect(stdout.split('\n')).toEqual([
      'The sum of 2 and 3 is 5.',
      "MCPToolNotFoundError: did you mean 'get-sum'?",
      '3 arrived; in order: Echo: one, Echo: two, Echo: three',
      'progress: 1/2 2/2',
      'cancelled: CancelledError',
      '',
    ]);
    expect(stderr).toMatch(/\(everything: connecting\)\n\(everything: connected\)\n/);
  });

  const noNats = whyNoNatsServer();
  if (noNats !== undefined) console.warn(`left out, because ${noNats}: the example of a cluster`);
  it.runIf(noNats === undefined)('the cluster has three nodes, and ends all of it with Ctrl-C', async () => {
    const temporary = makeFolder();
    const child = spawn(process.execPath, ['examples/cluster/start.mjs'], {
      cwd: project(),
      env: { PATH: process.env.PATH ?? '', HOME: temporary, TMPDIR: temporary, TOOLHERD_PROJECT: ROOT },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exit = once(child, 'exit');
    onTestFinished(async () => {
      child.kill('SIGINT');
      await exit;
    });
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    await until(() => said.includes('until you press Ctrl-C') || child.exitCode !== null);
    expect(said).toMatch(/^memory +\d+ +no +gpu \w+$/m);
    expect(said).toContain('"entities": []');
    expect(said).toContain('Echo: hello');
    child.kill('SIGINT');
    expect(await exit).toEqual([0, null]);
    expect(readdirSync(temporary).filter((name) => name.startsWith('toolherd-cluster-'))).toEqual([]);
  });

  it('the cluster without a nats-server says how to install it', async () => {
    const running = run(process.execPath, ['examples/cluster/start.mjs'], { NATS_SERVER: '/nowhere' });
    await expect(running).rejects.toThrow('sudo apt-get install nats-server');
  });

  it('the JavaScript of README.md calls a tool and ends', async () => {
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
    const blocks = [...readme.matchAll(/```js\n(.*?)```/gs)].map(([, code = '']) => code);
    expect(blocks).toHaveLength(1);
    const home = builtInHerd();
    await home.start();
    const { stdout } = await run(
      process.execPath,
      ['--input-type=module', '--eval', blocks[0]!],
      home.environment,
    );
    expect(stdout).toBe('Echo: hi\n');
  });

  it('the model test of an outside project walks the machines', async () => {
    const { stdout } = await run(process.execPath, ['--test', 'examples/model-test/server.test.mjs'], {
      PATH: process.env.PATH ?? '',
    });
    expect(stdout).toMatch(/pass 3$/m);
    expect(stdout).toMatch(/fail 0$/m);
  });

  it('the agent loop answers with the results of tools', async () => {
    const home = builtInHerd();
    await home.start();
    const { stdout } = await run(process.execPath, ['examples/agent-loop/agent.mjs'], home.environment);
    expect(stdout.split('\n')).toEqual([
      'user: How much is 19 and 23? Make a note that I asked.',
      'agent: I need two things for that, and neither needs the other.',
      '  everything__get-sum: The sum of 19 and 23 is 42.',
      expect.stringMatching(/^ {2}memory__create_entities: .*question/),
      'agent: Let me see whether I remember it.',
      expect.stringMatching(/^ {2}memory__search_nodes: .*a user asked for a sum/),
      'agent: It is 42, and I have made a note of it.',
      '',
    ]);
  });
});
