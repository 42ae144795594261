// The herd from Node: many calls, results as they come, progress, a call that is taken back, events.
// With --in-process there is no daemon: the herd of the same config runs in this script.
import { connect, openFleet } from 'toolherd';

const fleet = process.argv.includes('--in-process') ? await openFleet() : await connect();

try {
  const states = {};
  const off = fleet.on('state', ({ server, state }) => {
    if (states[server] !== state) console.error(`(${server}: ${state})`);
    states[server] = state;
  });

  // start it and wait; a call would do the same
  await fleet.server('everything').connect();
  const sum = await fleet.call('everything', 'get-sum', { a: 2, b: 3 });
  console.log(sum.text());

  // a call that fails is a result too
  const wrong = await fleet.call('everything', 'get-sun', { a: 2, b: 3 });
  console.log(`${wrong.error?.type}: ${wrong.error?.fix}`);

  const words = ['one', 'two', 'three'];
  const calls = words.map((message) => ({ server: 'everything', tool: 'echo', arguments: { message } }));
  const many = fleet.callMany(calls, { concurrency: 2 });
  let arrived = 0;
  for await (const { result } of many) arrived += result.success ? 1 : 0;
  const results = await many;
  console.log(`${arrived} arrived; in order: ${results.map((result) => result.text()).join(', ')}`);

  const steps = [];
  const onProgress = (step) => steps.push(`${step.progress}/${step.total}`);
  await fleet.call(
    'everything',
    'trigger-long-running-operation',
    { duration: 0.4, steps: 2 },
    { onProgress },
  );
  console.log(`progress: ${steps.join(' ')}`);

  const long = { duration: 60, steps: 60 };
  const signal = AbortSignal.timeout(200);
  const cancelled = await fleet.call('everything', 'trigger-long-running-operation', long, { signal });
  console.log(`taken back: ${cancelled.error?.type}`);
  off();
} finally {
  await fleet.close();
}
