/**
 * Breaks the machines on purpose, one line at a time, and looks whether a test notices: `node test/model/mutants.mjs`
 * (a number or a word picks some). The first round goes without the reviewed tables and pictures, which notice nearly
 * any change; what survives it meets them in the second. What survives both is printed, and is a hole in the tests.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** File, the text as it is (once in the file), the text as it should not be. */
const mutants = [
  // the server machine
  ['server', "endsWell: ({ context }) => context.ending.kind === 'disconnected'", 'endsWell: () => true'],
  ['server', "endsWell: ({ context }) => context.ending.kind === 'disconnected'", 'endsWell: () => false'],
  ['server', 'params.code === 0', 'params.code !== 0'],
  ['server', 'context.idleTimeoutMs > 0 && context.idleForMs()', 'context.idleForMs()'],
  ['server', 'context.idleForMs() >= context.idleTimeoutMs', 'context.idleForMs() > context.idleTimeoutMs'],
  ['server', 'context.idleForMs() >= context.idleTimeoutMs', 'context.idleForMs() < context.idleTimeoutMs'],
  ['server', "exit: 'sealGate',", ''],
  ['server', "closing: { ...leaving, entry: 'sealGate' }", 'closing: leaving'],
  ['server', "entry: ['openGate', reportConnected]", 'entry: [reportConnected]'],
  ['server', "entry: ['openGate', reportConnected]", "entry: ['openGate']"],
  ['server', "after: { closeTimeout: 'killing' },", ''],
  ['server', "killing: { entry: { type: 'order', params: { type: 'kill' } } }", 'killing: {}'],
  ['server', "entry: { type: 'order', params: { type: 'close' } },", ''],
  ['server', "initial: 'asking',", "initial: 'killing',"],
  ['server', "target: '.closing.killing',", "target: '.closing',"],
  ['server', 'stop: {},', ''],
  ['server', "'link.failed': {},", ''],
  ['server', "'link.hung': {},", ''],
  ['server', "stop: 'aborting',", "stop: '#server.disconnected',"],
  ['server', "stop: 'aborting',", ''],
  ['server', "target: '.aborting',", "target: 'error',"],
  [
    'server',
    "startTimeout: {\n              target: 'aborting'",
    "startTimeout: {\n              target: '#server.error'",
  ],
  ['server', "stop: '.closing',", "stop: 'disconnected',"],
  ['server', "stop: '.closing',", ''],
  ['server', "'reap',\n", ''],
  ['server', "ending.kind === 'disconnected' ? { ...ending, killed } : ending", 'ending'],
  [
    'server',
    "ending.kind === 'error' ? ending : failed({ cause: 'close', message })",
    "failed({ cause: 'close', message })",
  ],
  ['server', "'link.list_changed': { target: 'discovering', reenter: true }", "'link.list_changed': {}"],
  ['server', "{ target: 'serving', reenter: true },", "{ target: 'serving' },"],
  ['server', "on: { 'link.list_changed': 'discovering' },", ''],
  ['server', "after: { discoverTimeout: 'serving' },", ''],
  ['server', "after: { discoverTimeout: 'serving' },", "after: { discoverTimout: 'serving' },"],
  ['server', "connect: 'connecting', stop: 'disconnected'", "connect: 'connecting'"],
  ['server', "disconnected('ended')", "disconnected('stopped')"],
  ['server', '...(fix === undefined ? {} : { fix })', ''],
  ['server-context', 'context.idleTimeoutMs - context.idleForMs()', 'context.idleTimeoutMs'],
  ['server-context', 'context.idleTimeoutMs === 0 ? Number.POSITIVE_INFINITY :', ''],
  ['server-context', 'timerMs(context.startTimeoutMs)', 'context.startTimeoutMs'],
  // the keeper
  ['keeper', 'const incarnation = context.incarnation + 1;', 'const incarnation = context.incarnation || 1;'],
  ['keeper', 'connectedAt: undefined,\n      };', '};'],
  ['keeper', "if (context.startedBy !== 'policy') return {};", ''],
  ['keeper', "if (context.startedBy !== 'policy')", "if (context.startedBy === 'policy')"],
  ['keeper', "entry: ['noteRestart', 'connect'],", "entry: ['connect'],"],
  ['keeper', 'restarts: context.restarts + 1,', ''],
  ['keeper', "entry: 'noteConnected',", ''],
  ['keeper', "ending.kind === 'error' ? { lastError: ending } : {}", '{}'],
  ['keeper', 'connected: context.connectedAt !== undefined', 'connected: true'],
  [
    'keeper',
    "'remove',\n            'passOn',\n          ],\n        },\n        'xstate.error",
    "'passOn',\n          ],\n        },\n        'xstate.error",
  ],
  ['keeper', "'reap',\n", ''],
  ['keeper', "verdict.verdict === 'restart' && verdict.attempt === 0", "verdict.verdict === 'restart'"],
  ['keeper', "verdict.verdict === 'restart' && verdict.attempt === 0", 'false'],
  ['keeper', "exit: 'dropRetry',", ''],
  ['keeper', "exit: 'dropQuarantine',", ''],
  ['keeper', "on: { reset: { actions: 'forget' } },", ''],
  [
    'keeper',
    "actions: ['forget', { type: 'startFor', params: { by: 'order' } }],",
    "actions: [{ type: 'startFor', params: { by: 'order' } }],",
  ],
  ['keeper', "'call.waiting': startFor.call,", ''],
  ['keeper', "on: { 'call.waiting': 'recalled' },", ''],
  ['keeper', "guard: { type: 'says', params: { verdict: 'rest' } },\n              reenter", 'reenter'],
  ['keeper', "stop: {},\n            start: 'restarting',", 'stop: {},'],
  ['keeper', "'ending.noted': '#keeper.stopped',", ''],
  ['keeper', "'ending.noted': { reenter: true, ...startFor.order },", ''],
  ['keeper', '{ reenter: true, ...startFor.order }', 'startFor.order'],
  ['keeper', "restart: '.restarting',", ''],
  ['keeper', "restarting: {\n          entry: 'stop',", 'restarting: {'],
  ['keeper', "stopping: {\n          entry: 'stop',", 'stopping: {'],
  [
    'keeper',
    "'permit.granted': 'connecting', 'xstate.error.actor.permit': 'connecting'",
    "'permit.granted': 'connecting'",
  ],
  ['keeper', 'onError: {},', ''],
  ['keeper', 'after: { backoff: startFor.policy },', 'after: { backoff: startFor.order },'],
  ['keeper', "'auth.granted': startFor.order,", ''],
  [
    'keeper',
    'stopped: {\n      on: { start: startFor.order, restart: startFor.order },',
    "stopped: {\n      on: { start: startFor.order, restart: startFor.order, 'call.waiting': startFor.call },",
  ],
  [
    'keeper-context',
    'timerMs((context.nextRetryAt ?? 0) - context.now())',
    'timerMs(context.nextRetryAt ?? 0)',
  ],
  // the policy
  ['policy', "ending.reason === 'ended' && policy.restart === 'always'", "policy.restart === 'always'"],
  ['policy', "ending.reason === 'ended' && policy.restart === 'always'", "ending.reason === 'ended'"],
  ['policy', "if (ending.cause === 'auth') return { verdict: 'authorise' };", ''],
  [
    'policy',
    "if (ending.permanent) return { verdict: 'quarantine', reason: 'trying again cannot help' };",
    '',
  ],
  ['policy', 'history.failedStarts > policy.maxRestarts', 'history.failedStarts >= policy.maxRestarts'],
  ['policy', 'history.failedStarts > policy.maxRestarts', 'history.failedStarts > policy.maxRestarts + 1'],
  ['policy', "ending.cause === 'close' || policy.restart === 'never'", "policy.restart === 'never'"],
  ['policy', "ending.cause === 'close' || policy.restart === 'never'", "ending.cause === 'close'"],
  ['policy', 'recent < policy.maxRestarts', 'recent <= policy.maxRestarts'],
  ['policy', 'recent < policy.maxRestarts', 'recent + 1 < policy.maxRestarts'],
  ['policy', 'at >= now - policy.restartWindowMs', 'at > now - policy.restartWindowMs'],
  ['policy', 'at >= now - policy.restartWindowMs', 'at >= now'],
  ['policy', '[...inWindow(history.restarts, policy, now), now]', '[...history.restarts, now]'],
  ['policy', 'streak: history.streak + 1,', 'streak: history.streak,'],
  [
    'policy',
    "ending.kind === 'error' && ending.cause !== 'close' && ending.cause !== 'auth'",
    "ending.kind === 'error'",
  ],
  ['policy', 'failedStarts: history.failedStarts + 1', 'failedStarts: 1'],
  ['policy', 'connectedForMs >= policy.healthyAfterMs', 'connectedForMs > policy.healthyAfterMs'],
  ['policy', 'failedStarts: 0, streak: healthy ? 0 : history.streak', 'streak: healthy ? 0 : history.streak'],
  ['policy', 'streak: healthy ? 0 : history.streak', 'streak: 0'],
  ['policy', 'attempt === 0 || minMs === 0', 'attempt === 0'],
  ['policy', 'attempt === 0 || minMs === 0', 'minMs === 0'],
  ['policy', 'factor ** (attempt - 1)', 'factor ** attempt'],
  ['policy', 'Math.min(maxMs, minMs', 'Math.max(maxMs, minMs'],
  ['policy', '(2 * random - 1)', '(2 * random)'],
  ['policy', 'Math.ceil(', 'Math.floor('],
  ['policy', "if (policy.restart === 'never') return undefined;", ''],
  ['policy', 'attempt < maxRestarts; attempt', 'attempt <= maxRestarts; attempt'],
  ['policy', '* (1 - backoff.jitter)', ''],
  ['policy', 'spanMs > restartWindowMs', 'spanMs >= restartWindowMs'],
  ['policy', 'if (leastMs <= 0) return undefined;', ''],
  ['timer', 'Math.min(Math.max(0, ms), longestTimerMs)', 'Math.max(0, ms)'],
  ['timer', 'Math.min(Math.max(0, ms), longestTimerMs)', 'Math.min(ms, longestTimerMs)'],
];

const project = resolve(import.meta.dirname, '../..');
const copy = mkdtempSync(join(tmpdir(), 'mutants-'));
for (const path of [
  'src/machines',
  'src/testing',
  'src/config/spec.ts',
  'test/machines',
  'test/model',
  'package.json',
  'tsconfig.json',
]) {
  cpSync(join(project, path), join(copy, path), { recursive: true });
}
symlinkSync(join(project, 'node_modules'), join(copy, 'node_modules'));
writeFileSync(
  join(copy, 'vitest.config.mjs'),
  'export default { test: { include: ["test/**/*.test.ts"], testTimeout: 60000 } };\n',
);

const reviewed = ['**/l0-table.test.ts', '**/chart*.test.ts'];

function isNoticed(exclude) {
  const skip = exclude.flatMap((pattern) => ['--exclude', pattern]);
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--bail', '1', '--maxWorkers', '1', ...skip];
  const { status } = spawnSync(process.execPath, args, {
    cwd: copy,
    env: { ...process.env, CI: '1' },
    timeout: 180_000,
  });
  return status !== 0;
}

try {
  if (isNoticed([])) throw new Error('the tests fail without a mutant');
  const picked = mutants.filter((mutant, index) => {
    const [, , pick] = process.argv;
    return pick === undefined || pick === String(index) || mutant[0] === pick;
  });
  const counts = { behaviour: 0, reviewed: 0, nothing: 0 };
  for (const [name, from, to] of picked) {
    const file = join(copy, `src/machines/${name}.ts`);
    const source = readFileSync(file, 'utf8');
    if (source.split(from).length !== 2) throw new Error(`${name}: not there once: ${from}`);
    writeFileSync(
      file,
      source.replace(from, () => to),
    );
    const by = isNoticed(reviewed) ? 'behaviour' : isNoticed([]) ? 'reviewed' : 'nothing';
    counts[by] += 1;
    if (by !== 'behaviour')
      console.log(`${by === 'nothing' ? 'SURVIVED' : 'only by review'}  ${name}: ${from}  =>  ${to}`);
    writeFileSync(file, source);
  }
  console.log(
    `${picked.length} mutants: ${counts.behaviour} killed by behaviour, ${counts.reviewed} by a reviewed table or picture, ${counts.nothing} survived`,
  );
} finally {
  rmSync(copy, { recursive: true, force: true });
}
