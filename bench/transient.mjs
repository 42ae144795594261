// What a fresh process a call costs when a spare is ready, against one process for all calls.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { interleave, makeHome, median, root } from './tools.mjs';

export async function measureTransient(rounds) {
  const { home, env, remove } = makeHome();
  const echo = join(root, 'bench', 'echo.mjs');
  const entry = (name, more) =>
    `  - {name: ${name}, description: d, server: s, command: "${process.execPath}", args: ["${echo}"], start: eager${more}}\n`;
  writeFileSync(
    join(env.TOOLHERD_HOME, 'config.yaml'),
    `version: "1.0"\nsecurity: {allowed_commands: ["${process.execPath}"]}\nmcp_servers:\n${entry('single', '')}${entry('spare', ', lifecycle: transient, spares: 1')}${entry('cold', ', lifecycle: transient')}`,
  );
  const toolherd = (...args) =>
    spawnSync(process.execPath, [join(root, 'dist', 'bin', 'main.cjs'), ...args], {
      cwd: home,
      env,
      stdio: 'ignore',
    });
  toolherd('up');
  const { connect } = await import(join(root, 'dist', 'client.js'));
  const fleet = await connect({ socket: join(env.TOOLHERD_HOME, 'run', 'toolherd.sock') });
  const seen = new Set();
  /** Until the spare has shaken hands: it is connected, and it is another process than before. */
  const ready = async () => {
    for (;;) {
      const { servers } = await fleet.status(['spare']);
      const [{ pids, state }] = servers;
      if (state === 'connected' && pids.length === 1 && !seen.has(pids[0])) return void seen.add(pids[0]);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  /** Nothing of what the call before has left to do (a process that goes, its successor) falls into the next one. */
  const rest = () => new Promise((resolve) => setTimeout(resolve, 250));
  const call = (server) => async () => {
    const { success } = await fleet.call(server, 'echo', { text: 'hi' });
    if (!success) throw new Error(`${server} failed`);
  };
  try {
    for (let warm = 0; warm < 20; warm++) await call('single')();
    const times = await interleave(
      rounds,
      { single: call('single'), spare: call('spare'), cold: call('cold') },
      { single: rest, spare: () => rest().then(ready).then(rest), cold: rest },
    );
    const floor = median(times.single);
    const goals = { spare: 2 };
    const names = { single: 'singleton', spare: 'transient, a spare is ready', cold: 'transient, no spares' };
    return Object.entries(times).map(([name, list]) => ({
      what: names[name],
      ms: median(list),
      against: 'singleton',
      ratio: median(list) / floor,
      goal: goals[name],
    }));
  } finally {
    await fleet.close();
    toolherd('down');
    remove();
  }
}
