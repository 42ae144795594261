// `node examples/cluster/start.mjs`: one nats-server and three daemons on this machine, which are nodes of one cluster.
// Ctrl-C ends all of them. Their files are in a temporary folder.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { connect as connectTo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(fileURLToPath(import.meta.resolve('toolherd/package.json')));
const command = join(root, 'dist', 'bin', 'main.cjs');
/** Its node_modules hold the servers. */
const project = process.env.TOOLHERD_PROJECT ?? root;
const NODES = ['desk', 'gpu', 'lab'];
/** Of a machine that is busy. */
const PATIENCE_MS = 60_000;

const nats = findNats();
if (nats === undefined) {
  console.error(`nats-server is not installed, and this example needs it:

  Debian, Ubuntu   sudo apt-get install nats-server
  macOS            brew install nats-server
  others           https://github.com/nats-io/nats-server/releases

NATS_SERVER=PATH names one that is somewhere else.`);
  process.exit(1);
}
const { connect } = await import('toolherd/client').catch(() => {
  console.error('toolherd is not built: run "npm ci && npm run build" first');
  process.exit(1);
});

const folder = mkdtempSync(join(tmpdir(), 'toolherd-cluster-'));
const homeOf = (name) => join(folder, name);
/** In groups of their own: Ctrl-C of the terminal reaches this script only, which ends them in order. */
const children = [];
let isEnding = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void end(0));

try {
  await start();
} catch (error) {
  console.error(`the example failed: ${error instanceof Error ? error.message : error}`);
  await end(1);
}

async function start() {
  const port = await freePort();
  const url = `nats://127.0.0.1:${port}`;
  console.log(`starting nats-server at ${url}, and the nodes ${NODES.join(', ')} …`);
  run('nats-server', nats, ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', join(folder, 'nats')]);
  await until('nats-server listens', () => listens(port));
  for (const name of NODES) {
    mkdirSync(homeOf(name));
    copyFileSync(join(import.meta.dirname, 'config.yaml'), join(homeOf(name), 'config.yaml'));
    const env = { CLUSTER_NATS: url, CLUSTER_NODE: name };
    run(name, process.execPath, [command, 'up', '--foreground'], { ...environmentOf(name), ...env });
  }
  for (const name of NODES) await joined(name);
  toolherd('desk', 'cluster', 'status');
  console.log('\nThe agents of desk use the server that runs on gpu:');
  toolherd('desk', 'call', 'memory.read_graph');
  toolherd('desk', 'call', 'everything.echo', 'message=hello');
  const aliases = NODES.map((name) => `  alias ${name}='TOOLHERD_HOME="${homeOf(name)}" node "${command}"'`);
  const fleet = await connect({ socket: join(homeOf('gpu'), 'run', 'toolherd.sock') });
  const { pid } = (await fleet.status([])).daemon;
  await fleet.close();
  console.log(`
The cluster runs until you press Ctrl-C. In another terminal:

${aliases.join('\n')}

  desk status                                   all servers, wherever they run
  desk why memory                               where it runs, and where calls go
  desk call everything.echo message=hi          the least busy node answers
  desk ui                                       the same in your browser, page Cluster
  lab cluster drain; desk cluster status        lab takes no more calls of others
  kill -9 ${String(pid).padEnd(38)}gpu dies: desk sees it within 3 s
`);
}

function environmentOf(name) {
  const { TOOLHERD_SOCKET: _, ...rest } = process.env;
  return { ...rest, TOOLHERD_HOME: homeOf(name), TOOLHERD_PROJECT: project };
}

/** Runs the command on a node as a user would, and shows what it says. */
function toolherd(name, ...args) {
  console.log(`\n${name}$ toolherd ${args.join(' ')}`);
  spawnSync(process.execPath, [command, ...args], { stdio: 'inherit', env: environmentOf(name) });
}

function run(name, program, args, env = process.env) {
  const child = spawn(program, args, { env, cwd: folder, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const one = { name, child, said: '', hasEnded: false };
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      one.said = (one.said + chunk).slice(-2000);
    });
  child.on('error', (error) => {
    one.hasEnded = true;
    one.said += error.message;
  });
  child.on('exit', (code, signal) => {
    one.hasEnded = true;
    if (!isEnding) console.log(`(${name} ended: ${signal ?? `status ${code}`})`);
  });
  children.push(one);
}

/** The daemon sees both other nodes, and what they share. */
async function joined(name) {
  await until(`${name} sees the other nodes`, async () => {
    const fleet = await connect({ socket: join(homeOf(name), 'run', 'toolherd.sock') }).catch(
      () => undefined,
    );
    if (fleet === undefined) return false;
    const { nodes } = await fleet.cluster().finally(() => fleet.close());
    return nodes.filter(({ state, servers }) => state === 'up' && servers.length > 0).length === NODES.length;
  });
}

async function until(what, isDone) {
  for (const begun = Date.now(); !(await isDone()); ) {
    const dead = children.find(({ hasEnded }) => hasEnded);
    if (dead !== undefined) throw new Error(`${dead.name} ended:\n${dead.said}`);
    if (Date.now() - begun > PATIENCE_MS) throw new Error(`nothing happened for a minute: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** The daemons first: each ends its servers and leaves the cluster. */
async function end(status) {
  if (isEnding) return;
  isEnding = true;
  console.log('\nending the nodes and nats-server …');
  const exited = async ({ child, hasEnded }) => {
    if (hasEnded) return;
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    await exit;
  };
  const [server, ...nodes] = children;
  await Promise.all(nodes.map(exited));
  if (server !== undefined) await exited(server);
  rmSync(folder, { recursive: true, force: true });
  process.exit(status);
}

/** Debian puts it into a folder that is not on the PATH of most users. */
function findNats() {
  const named = process.env.NATS_SERVER;
  const works = (program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;
  if (named !== undefined) return works(named) ? named : undefined;
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter),
    '/usr/sbin',
    '/usr/local/sbin',
    '/usr/local/bin',
  ];
  return folders
    .filter((one) => one !== '')
    .map((one) => join(one, 'nats-server'))
    .find(works);
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** It says what it is as soon as one connects. */
function listens(port) {
  return new Promise((resolve) => {
    const socket = connectTo(port, '127.0.0.1');
    const answer = (isThere) => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once('data', () => answer(true)).once('error', () => answer(false));
  });
}
