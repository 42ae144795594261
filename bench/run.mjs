// Measures toolherd against a floor in the same run and prints ratios of medians.
// Usage: npm run bench [-- --quick]
import { cpus, loadavg } from 'node:os';
import { measureCall, measureCommand } from './command.mjs';
import { measureLarge } from './large.mjs';
import { measureTransient } from './transient.mjs';

const isQuick = process.argv.includes('--quick');
const load = loadavg()[0].toFixed(2);
const rows = [
  ...(await measureCommand(isQuick ? 15 : 60)),
  ...(await measureCall(isQuick ? 15 : 60)),
  ...(await measureTransient(isQuick ? 15 : 60)),
  ...(await measureLarge(isQuick ? 5 : 15)),
];

console.log(`node ${process.version}, ${cpus().length} cores, load average ${load} at the start\n`);
console.log('| what | median ms | against | ratio | goal |');
console.log('|---|---|---|---|---|');
for (const { what, ms, against, ratio, goal } of rows) {
  console.log(
    `| ${what} | ${ms.toFixed(1)} | ${against} | ${ratio.toFixed(2)} | ${goal === undefined ? '' : `≤ ${goal}`} |`,
  );
}
