// Measures toolherd against floors and peers in the same run, and prints ratios of medians.
import { writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { endAll } from './children.mjs';
import { metrics } from './metrics/index.mjs';
import { readOptions, USAGE } from './options.mjs';
import { findPeers } from './peers/index.mjs';
import { firstLine } from './peers/start-peers.mjs';
import { circumstances, fullTables, goalsTable, leftOut } from './report/markdown.mjs';
import { writeDocs } from './report/write-docs.mjs';

const note = (/** @type {string} */ text) => process.stderr.write(`  ${text}\n`);

/** `--only` names what is run; a quick run passes over what takes minutes. */
function choose(/** @type {{ only: string[] | undefined, quick: boolean }} */ { only, quick }) {
  return Object.keys(metrics).filter((name) => {
    if (only !== undefined) return only.includes(name);
    return !quick || metrics[name].quick !== undefined;
  });
}

/** The command for the docs: without the paths of this machine. */
function commandOf(
  /** @type {{ quick: boolean, only: string[] | undefined, rounds: number, write: boolean, 'no-peers': any }} */ {
    quick,
    only,
    rounds,
    write,
    'no-peers': noPeers,
  },
) {
  const flags = [
    quick && '--quick',
    only && `--only ${only.join(',')}`,
    noPeers && '--no-peers',
    rounds && `--rounds ${rounds}`,
    write && '--write',
  ].filter(Boolean);
  return ['npm run bench', ...(flags.length > 0 ? ['--', ...flags] : [])].join(' ');
}

async function measure(/** @type {any} */ options) {
  const begun = performance.now();
  const before = loadavg()[0];
  const names = choose(options);
  const { peers, without } = options.peers ? await findPeers(note) : { peers: [], without: {} };
  /** @type {Bench.Results} */
  const results = {};
  for (const name of names) {
    note(`${name} (load average ${loadavg()[0].toFixed(2)})`);
    const { measure, full, quick } = metrics[name];
    const amount = { ...((options.quick && quick) || full) };
    if (options.rounds !== undefined && 'rounds' in amount) amount.rounds = options.rounds;
    try {
      Object.assign(
        results,
        await measure({ ...amount, peers, note, leaveOut: (reason) => (without[name] = reason) }),
      );
    } catch (error) {
      // what the others found is not lost with it
      process.exitCode = 1;
      without[name] = `failed: ${firstLine(error)}`;
      console.error(`error: ${name}: ${/** @type {Error} */ (error).stack}`);
    }
  }
  results.run = {
    date: new Date().toISOString().slice(0, 10),
    command: commandOf(options),
    seconds: (performance.now() - begun) / 1000,
    node: process.version,
    cores: availableParallelism(),
    platform: `${process.platform} ${process.arch}`,
    load: { start: before, end: loadavg()[0] },
    peers: Object.fromEntries(peers.map(({ name, version }) => [name, version])),
    without,
  };
  return results;
}

try {
  const options = readOptions(process.argv.slice(2), Object.keys(metrics));
  if (options.help) console.log(USAGE.replace('NAMES', Object.keys(metrics).join(', ')));
  else {
    if (options.dist) process.env.TOOLHERD_BENCH_DIST = options.dist;
    const results = await measure(options);
    const text = [circumstances(results), goalsTable(results), fullTables(results), leftOut(results)].filter(
      Boolean,
    );
    console.log(text.join('\n\n'));
    if (options.json) writeFileSync(options.json, `${JSON.stringify(results, null, 2)}\n`);
    if (options.markdown) writeFileSync(options.markdown, `${text.join('\n\n')}\n`);
    if (options.write) writeDocs(results);
  }
} catch (error) {
  console.error(`error: ${/** @type {Error} */ (error).stack}`);
  process.exitCode = 1;
} finally {
  await endAll();
}
