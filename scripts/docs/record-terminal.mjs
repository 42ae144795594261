// Records a real session with the built command and writes it as an animated picture: docs/images/demo.svg. The picture
// is plain SVG text on a dark ground, so it looks the same on light and dark pages; without animation it shows all lines.
// Usage: npm run build && node scripts/docs/record-terminal.mjs
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { execa } from 'execa';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const command = join(root, 'dist', 'bin', 'main.cjs');
const COLUMNS = 104;
const LINE_PX = 20;
const CHARACTER_PX = 8.4;
const MARGIN_PX = 20;
const TITLE_PX = 36;
/** How long a reader gets for what a command printed, and for a command before its output. */
const READ_S = 1.6;
const TYPE_S = 0.7;

/**
 * A line of the session: what a person typed, or what a command printed.
 * @typedef {{ typed: string } | { printed: string }} Line
 */

/**
 * Runs the commands, and returns what a person would have seen.
 * @returns {Promise<Line[]>}
 */
async function record() {
  const home = mkdtempSync(join(tmpdir(), 'toolherd-record-'));
  cpSync(join(root, 'examples', 'demo'), home, { recursive: true });
  const env = { ...process.env, TOOLHERD_HOME: home, TOOLHERD_PROJECT: root, NO_COLOR: '1' };
  /** @type {(args: readonly string[]) => Promise<string[]>} */
  const run = async (args) => {
    const options = { env, cwd: home, stripFinalNewline: false, reject: false };
    const { stdout, stderr } = await execa(process.execPath, [command, ...args], options);
    return `${stdout}${stderr}`.trimEnd().split('\n');
  };
  /** @type {Line[]} */
  const lines = [];
  /** @param {string} text */
  const type = (text) => lines.push({ typed: text });
  /** @param {readonly string[]} texts */
  const print = (texts) => lines.push(...texts.map((text) => ({ printed: text })));
  /** @param {string[]} args */
  const show = async (...args) => {
    type(`toolherd ${args.join(' ')}`);
    print(await run(args));
  };
  try {
    await run(['up']);
    await run(['start', '--all', '--wait']);
    await show('status');
    await show('call', 'everything.get-sum', 'a=2', 'b=3');
    const { servers } = JSON.parse((await run(['status', 'everything', '--json'])).join('\n'));
    const pid = servers[0].pids[0];
    const args = ['call', 'everything.trigger-long-running-operation', 'duration=5', 'steps=5'];
    type(`toolherd ${args.join(' ')} &`);
    const call = run(args);
    await sleep(1500);
    type(`kill -9 -- -${pid}`);
    process.kill(-pid, 'SIGKILL');
    print((await call).filter((line) => !line.startsWith('progress')));
    await show('call', 'everything.echo', 'message=again');
    await show('why', 'everything');
  } finally {
    await run(['down']);
    rmSync(home, { recursive: true, force: true });
  }
  return lines;
}

/** @param {string} text */
const toXml = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/**
 * When each line appears, in seconds.
 * @param {readonly Line[]} lines
 */
function timesOf(lines) {
  let now = 0.3;
  return lines.map((line, at) => {
    const last = lines[at - 1];
    if ('typed' in line && last !== undefined && 'printed' in last) now += READ_S;
    const time = now;
    if ('typed' in line) now += TYPE_S;
    return time;
  });
}

/** @param {Line} line */
function classOf(line) {
  if ('typed' in line) return 'typed';
  if (line.printed.startsWith('error:')) return 'error';
  return /^[A-Z0-9 ]+$/.test(line.printed) ? 'head' : 'printed';
}

/**
 * The picture of a session.
 * @param {readonly Line[]} lines
 */
function toSvg(lines) {
  const width = Math.round(2 * MARGIN_PX + COLUMNS * CHARACTER_PX);
  const height = TITLE_PX + 2 * MARGIN_PX + lines.length * LINE_PX;
  const times = timesOf(lines);
  const rows = lines.map((line, at) => {
    const y = TITLE_PX + MARGIN_PX + (at + 0.75) * LINE_PX;
    const text =
      'typed' in line ? `<tspan class="prompt">$</tspan> ${toXml(line.typed)}` : toXml(line.printed);
    const style = `animation-delay:${times[at]?.toFixed(1)}s`;
    return `  <text class="${classOf(line)}" x="${MARGIN_PX}" y="${y}" style="${style}" xml:space="preserve">${text}</text>`;
  });
  const lights = ['#ff5f57', '#febc2e', '#28c840'].map(
    (colour, at) => `  <circle cx="${MARGIN_PX + 6 + at * 20}" cy="${TITLE_PX / 2}" r="6" fill="${colour}"/>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
  <title>A terminal: a server is killed in the middle of a call, the caller gets an error that says so, and the next call succeeds</title>
  <style>
    text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #c9d1d9; animation: show 0.01s linear both; }
    .typed { fill: #f0f6fc; font-weight: 600; }
    .prompt { fill: #3fb950; }
    .head { fill: #8b949e; }
    .error { fill: #ff7b72; }
    @keyframes show { from { opacity: 0; } to { opacity: 1; } }
    @media (prefers-reduced-motion: reduce) { text { animation: none; } }
  </style>
  <rect width="${width}" height="${height}" rx="10" fill="#0d1117" stroke="#30363d"/>
${lights.join('\n')}
${rows.join('\n')}
</svg>
`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const lines = await record();
  const folder = join(root, 'docs', 'images');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'demo.svg'), toSvg(lines));
  for (const line of lines) console.log('typed' in line ? `$ ${line.typed}` : line.printed);
}
