// What a large result costs on its way through the daemon, against a pipe to the same server.
import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { interleave, makeHome, median, root } from './tools.mjs';

const SIZES = { '10 MB': 10e6, '50 MB': 50e6 };
const NEWLINE = 0x0a;

/** A client that parses its replies, as all do; or only reads them, so that it keeps nobody waiting itself. */
function clientOf(input, output, parses = true) {
  let received = () => {};
  let held = [];
  output.on('data', (chunk) => {
    if (parses) held.push(chunk);
    if (chunk.at(-1) !== NEWLINE) return;
    if (parses) JSON.parse(Buffer.concat(held).toString());
    held = [];
    received();
  });
  return {
    ask: (method, params) =>
      new Promise((resolve) => {
        received = resolve;
        input.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })}\n`);
      }),
  };
}

const give = (client, size) => client.ask('tools/call', { name: 'give', arguments: { size } });

export async function measureLarge(rounds) {
  const { home, env, remove } = makeHome();
  const server = join(root, 'bench', 'large-server.mjs');
  const entry = (name) =>
    `  - {name: ${name}, description: d, server: s, command: "${process.execPath}", args: ["${server}"], start: eager}\n`;
  writeFileSync(
    join(env.TOOLHERD_HOME, 'config.yaml'),
    `version: "1.0"\nsecurity: {allowed_commands: ["${process.execPath}"]}\nmcp_servers:\n${entry('large')}${entry('small')}`,
  );
  const command = join(root, 'dist', 'bin', 'main.cjs');
  const toolherd = (...args) =>
    spawnSync(process.execPath, [command, ...args], { cwd: home, env, stdio: 'ignore' });
  toolherd('up');
  const socket = join(env.TOOLHERD_HOME, 'run', 'toolherd.sock');
  const open = async (name, parses) => {
    const stream = connect(socket);
    const client = clientOf(stream, stream, parses);
    await client.ask('fleet/hello', { client: { name: 'bench', version: '1' }, server: name });
    return { ...client, close: () => stream.destroy() };
  };
  const direct = spawn(process.execPath, [server], { stdio: ['pipe', 'pipe', 'inherit'] });
  const bridge = spawn(process.execPath, [command, 'bridge', '--server', 'large'], {
    cwd: home,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const clients = {
    pipe: clientOf(direct.stdin, direct.stdout),
    socket: await open('large'),
    bridge: clientOf(bridge.stdin, bridge.stdout),
  };
  const [bare, small] = [await open('large', false), await open('small', false)];
  try {
    const rows = [];
    for (const [name, size] of Object.entries(SIZES)) {
      const systems = Object.fromEntries(
        Object.entries(clients).map(([way, client]) => [way, () => give(client, size)]),
      );
      for (const run of Object.values(systems)) await run();
      const times = await interleave(rounds, systems);
      for (const [way, list] of Object.entries(times)) {
        rows.push({
          what: `a result of ${name}, ${way}`,
          ms: median(list),
          against: 'pipe',
          ratio: median(list) / median(times.pipe),
          goal: undefined,
        });
      }
      rows.push(await beside(name, () => give(bare, size), small, rounds));
    }
    return rows;
  } finally {
    direct.kill();
    bridge.kill();
    clients.socket.close();
    bare.close();
    small.close();
    toolherd('down');
    remove();
  }
}

/** The slowest of the small calls that are made while a large result passes, against those made alone. */
async function beside(name, large, small, rounds) {
  const slowest = { alone: [], beside: [] };
  const call = async () => {
    const begun = performance.now();
    await give(small, 100);
    return performance.now() - begun;
  };
  for (let round = 0; round < rounds; round += 1) {
    for (const which of ['alone', 'beside']) {
      const end = performance.now() + 100;
      let isDone = which === 'alone';
      const passing = which === 'alone' ? Promise.resolve() : large().then(() => (isDone = true));
      let worst = 0;
      do worst = Math.max(worst, await call());
      while (!isDone || performance.now() < end);
      await passing;
      slowest[which].push(worst);
    }
  }
  return {
    what: `the slowest small call beside ${name}`,
    ms: median(slowest.beside),
    against: 'alone',
    ratio: median(slowest.beside) / median(slowest.alone),
    goal: undefined,
  };
}

if (process.argv[1] === import.meta.filename) {
  for (const { what, ms, ratio, against } of await measureLarge(Number(process.argv[2] ?? 7))) {
    console.log(`${what}: ${ms.toFixed(1)} ms, ${ratio.toFixed(2)} × ${against}`);
  }
}
