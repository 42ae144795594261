import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { TOPICS } from '../../src/fleet/events.js';
import type { FleetEvent } from '../../src/fleet/fleet.js';
import { toolherd } from '../support/command.js';
import { type Herd, type Home, herdIn, isAlive, makeHome, processesOf, until } from '../support/herd.js';
import { HAS_PROC, readProc } from '../support/processes.js';
import { command, config, type Entry, server } from './config.js';
import { measured } from './measured.js';

const CANARY = 'canary-e80b55';
/** One for each way in which a secret can come. */
const FROM = {
  env: `${CANARY}-env`,
  file: `${CANARY}-file`,
  variable: `${CANARY}-variable`,
  header: `${CANARY}-header`,
  config: `${CANARY}-config`,
};
const NAMES = 'IN_ENV,IN_FILE,IN_VARIABLE';
const SECRETS = {
  env: { IN_ENV: FROM.env, IN_VARIABLE: '${OF_THE_DAEMON}' },
  envFile: '.env',
  config: { server: { api_key: FROM.config } },
};
const ONCE = { max_restarts: 1, backoff: { min: 0.02, max: 0.02 } };
const TOOLS = ['stderr', 'stdout', 'log', 'error', 'unusable', 'crash', 'no-such-tool'];
/** Files in which the test itself wrote the secret. */
const OWN_FILES = ['config.yaml', '.env'];

const telling = (name: string, more: Record<string, unknown> = {}): Entry =>
  server(name, 'tells-secrets.mjs', { args: [NAMES], ...SECRETS, ...more });

/** A remote server that repeats what it was sent in each of its refusals. */
async function tellingEndpoint(status: number): Promise<string> {
  const endpoint = createServer((incoming, response) => {
    response.statusCode = status;
    response.end(JSON.stringify({ error: `not with ${incoming.headers.authorization}` }));
  }).listen(0, '127.0.0.1');
  await once(endpoint, 'listening');
  onTestFinished(() => {
    endpoint.closeAllConnections();
    endpoint.close();
  });
  return `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/mcp`;
}

const remote = (name: string, url: string): Entry => ({
  name,
  description: name,
  server: name,
  transport: 'http',
  url,
  headers: { Authorization: `Bearer ${FROM.header}` },
  timeout: 2,
  ...ONCE,
});

async function startSecretHerd(): Promise<Herd> {
  const urls = await Promise.all([500, 403].map(tellingEndpoint));
  const home = makeHome(
    config(
      [
        telling('tells'),
        telling('refuses', { args: [NAMES, 'at-start'], ...ONCE }),
        telling('transient', { lifecycle: 'transient' }),
        command('missing', 'no-such-command', [], SECRETS),
        ...urls.map((url, at) => remote(`remote-${at}`, url)),
        remote('nowhere', 'http://127.0.0.1:9/mcp'),
      ],
      { log_level: 'trace' },
    ),
    { OF_THE_DAEMON: FROM.variable },
  );
  writeFileSync(join(home.folder, '.env'), `IN_FILE=${FROM.file}\n`);
  return herdIn(home, await home.start());
}

/** A page of the socket's HTTP. */
function page({ socket }: Home, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    request({ socketPath: socket, path }, (response) => resolve(text(response)))
      .once('error', reject)
      .end();
  });
}

/** What every user can see of the processes: `ps` without their environment. */
const shownByPs = (pids: readonly number[]) =>
  execFileSync('ps', ['-ww', '-o', 'pid,args', '-p', pids.join()], { encoding: 'utf8' });

/** Whether another user can read the environment of a process; undefined if this user is not root. */
function strangerReads(pid: number): boolean | undefined {
  if (process.getuid?.() !== 0) return undefined;
  try {
    execFileSync('cat', [`/proc/${pid}/environ`], { uid: 65534, gid: 65534, stdio: 'ignore', cwd: '/' });
    return true;
  } catch {
    return false;
  }
}

function filesOf({ folder }: Home): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => !OWN_FILES.includes(name) && statSync(join(folder, name)).isFile(),
  );
}

it('X1 SC-005: no secret of a config is in a log, error, status, event, metric, file, process list or output', async () => {
  const herd = await startSecretHerd();
  const { home, fleet, daemon } = herd;
  const seen = new Map<string, string>();
  const see = (where: string, what: unknown) =>
    seen.set(where, typeof what === 'string' ? what : JSON.stringify(what));
  const events: FleetEvent[] = [];
  onTestFinished(fleet.subscribe(TOPICS, (event) => events.push(event)));

  // everything that can go wrong, by every server
  const servers = (await fleet.status()).servers.map(({ name }) => name);
  see('started', await fleet.start({ all: true }, true));
  for (const name of servers) {
    for (const tool of name === 'tells' || name === 'transient' ? TOOLS : ['any'])
      see(`call ${name}.${tool}`, await fleet.call({ server: name, tool }));
  }
  await until(async () => (await fleet.call({ server: 'tells', tool: 'stderr' })).success);
  const pids = processesOf(daemon.id).map(({ pid }) => pid);
  if (HAS_PROC) expect(pids.length).toBeGreaterThan(1);
  see('ps', shownByPs([...pids, daemon.pid]));
  const [pid = 0] = (await herd.status('tells')).pids;
  if (HAS_PROC) expect(readProc(pid, 'environ')).toContain(FROM.env);
  const isReadable = strangerReads(pid);
  if (isReadable === undefined) console.warn('X1: not root, so no other user was tried');
  else expect(isReadable).toBe(false);

  // everything that can be asked
  see('status', await fleet.status());
  see('tools', await fleet.tools());
  see('logs', await fleet.logs({ tail: 1000, level: 'trace' }));
  see('reload', await fleet.reload(true));
  for (const name of servers) {
    see(`inspect ${name}`, await fleet.inspect(name));
    see(`logs ${name}`, await fleet.logs({ server: name, tail: 1000, level: 'trace' }));
  }
  for (const path of ['/metrics', '/health']) see(path, await page(home, path));
  const run = { cwd: home.folder, env: home.environment };
  const verbs = [
    ['status'],
    ['why', 'tells'],
    ['why', 'refuses', '-v'],
    ['inspect', 'tells'],
    ['logs', 'tells'],
  ];
  const more = [['doctor'], ['validate'], ['list'], ['call', 'tells.error'], ['restart', 'remote-0']];
  await Promise.all(
    [...verbs, ...more].map(async (words) => {
      const { stdout, stderr } = await toolherd([...words, '--json'], run);
      see(`toolherd ${words.join(' ')} --json`, stdout + stderr);
    }),
  );
  for (const words of [['why', 'tells'], ['why', 'remote-0'], ['doctor'], ['status']]) {
    const { stdout, stderr } = await toolherd(words, run);
    see(`toolherd ${words.join(' ')}`, stdout + stderr);
  }
  see('events', events);

  for (const [where, what] of seen) expect([where, what.length > 1]).toEqual([where, true]);

  // and everything that is written down, also at the very end
  see('shutdown', await fleet.shutdown());
  await until(() => processesOf(daemon.id).length === 0 && !isAlive(daemon.pid));
  for (const name of filesOf(home)) see(name, readFileSync(join(home.folder, name), 'latin1'));

  const hits = [...seen].filter(([, what]) => what.includes(CANARY));
  expect(hits.map(([where, what]) => [where, excerpt(what)])).toEqual([]);
  // the secret was really sent: it was redacted
  expect(seen.get('state/logs/servers/tells.log')).toContain('[redacted:IN_ENV]');
  expect(seen.get('tools')).toContain('tells__stderr');
  expect(events.length).toBeGreaterThan(10);
  measured(`X1: ${seen.size} places and ${[...seen.values()].join('').length} characters, 0 hits`);
}, 90_000);

function excerpt(text: string): string {
  const at = text.indexOf(CANARY);
  return text.slice(Math.max(0, at - 120), at + 60);
}
