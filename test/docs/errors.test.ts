import { once } from 'node:events';
import { createServer as createHttp } from 'node:http';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { CallParams, ToolResult, WireError } from '../../src/fleet/fleet.js';
import { ERROR_CODES } from '../../src/ipc/jsonrpc/rpc-error.js';
import { connectSocket } from '../../src/ipc/socket/connect-socket.js';
import { command, config, type Entry, fixturePath, server } from '../faults/config.js';
import { expectRegion, markdownTable } from '../support/docs.js';
import { makeFolder } from '../support/folder.js';
import { type Herd, startHerd, until } from '../support/herd.js';
import { describedTypes, typeRows, typesInSource, UNTYPED, untypedClasses } from './error-types.js';

/** One way in which a call can go wrong. */
interface Situation {
  when: string;
  type: string;
  /** What has to be done before the call that fails, or in the middle of it. */
  run(herd: Herd): Promise<Pick<ToolResult, 'success' | 'error'>>;
}

const call = (of: string, tool: string, more: Partial<CallParams> = {}) => ({
  run: ({ fleet }: Herd) => fleet.call({ server: of, tool, ...more }),
});

/** A method other than `fleet/call` fails with a JSON-RPC error, which the library throws. */
const failure = (request: Promise<unknown>) =>
  request.then(
    () => ({ success: true, error: null }),
    (error: WireError) => ({ success: false, error }),
  );

const AGENT =
  'tools:\n  - {name: notes, description: d, type: mcp, server: notes, command: npx, args: [-y, notes-server]}\n';

/** In a temporary folder. */
const AGENT_FILE = /\/[^\s']*\/agent\.yaml/g;

const SITUATIONS: readonly Situation[] = [
  { when: 'the command does not exist', type: 'ServerUnavailableError', ...call('missing', 'any') },
  {
    when: 'the command is a path that leads nowhere',
    type: 'ServerUnavailableError',
    ...call('absent', 'any'),
  },
  { when: 'it is quarantined', type: 'ServerUnavailableError', ...call('missing', 'any') },
  { when: 'the process ends at its start', type: 'ServerCrashedError', ...call('exits', 'any') },
  {
    when: 'the process ends at its start and says why',
    type: 'ServerCrashedError',
    ...call('nokey', 'any'),
  },
  { when: 'npx finds no such package', type: 'ServerCrashedError', ...call('nopackage', 'any') },
  {
    when: 'a call comes before the next try',
    type: 'ServerUnavailableError',
    async run({ fleet, status }) {
      // the first of the next tries comes at once
      await until(async () => (await status('exits')).detail === 'waiting');
      return fleet.call({ server: 'exits', tool: 'any' });
    },
  },
  { when: 'it never answers initialize', type: 'MCPTimeoutError', ...call('silent', 'any') },
  { when: 'its reply to initialize makes no sense', type: 'MCPProtocolError', ...call('strange', 'any') },
  { when: 'it dies in the middle of a call', type: 'ServerCrashedError', ...call('good', 'kill') },
  {
    when: 'its process is suspended in the middle of a call',
    type: 'ServerCrashedError',
    ...call('hangs', 'stop'),
  },
  { when: 'no process listens at its url', type: 'MCPConnectionError', ...call('remote', 'any') },
  { when: 'its url is wrong', type: 'MCPProtocolError', ...call('misplaced', 'any') },
  {
    when: 'a call comes right after that',
    type: 'ServerUnavailableError',
    async run({ fleet, status }) {
      await until(async () => (await status('misplaced')).detail === 'waiting');
      return fleet.call({ server: 'misplaced', tool: 'any' });
    },
  },
  { when: 'the tool says that it failed', type: 'MCPToolError', ...call('content', 'fails') },
  { when: 'it answers with an error of the protocol', type: 'MCPProtocolError', ...call('good', 'refuse') },
  { when: 'its reply cannot be read', type: 'MCPProtocolError', ...call('noisy', 'glued') },
  { when: 'no tool has this name', type: 'MCPToolNotFoundError', ...call('good', 'ehco') },
  { when: 'no server has this name', type: 'ServerNotFoundError', ...call('god', 'echo') },
  { when: 'it takes too long', type: 'MCPTimeoutError', ...call('good', 'wait', { timeout_ms: 200 }) },
  {
    when: 'its reply is larger than max_message_bytes',
    type: 'ResultTooLargeError',
    ...call('huge', 'give', { arguments: { bytes: 50_000 } }),
  },
  {
    when: 'too many calls wait for it already',
    type: 'OverloadedError',
    async run({ connect }) {
      // on a separate connection, whose end cancels the calls
      const fleet = await connect();
      await fleet.start({ servers: ['busy'] }, true);
      const calls = Array.from({ length: 10_002 }, () => fleet.call({ server: 'busy', tool: 'wait' }));
      for (const one of calls) one.catch(() => undefined);
      const result = await Promise.race(calls);
      fleet.close();
      return result;
    },
  },
  {
    when: 'it was stopped',
    type: 'ServerUnavailableError',
    async run({ fleet }) {
      await fleet.stop({ servers: ['good'] }, true);
      return fleet.call({ server: 'good', tool: 'echo' });
    },
  },
  { when: 'it is disabled', type: 'ServerUnavailableError', ...call('off', 'any') },
  {
    when: 'a variable in its entry in the global config is not set',
    type: 'ConfigError',
    ...call('unset', 'any'),
  },
  {
    when: 'it requires an authorisation',
    type: 'AuthRequiredError',
    ...call('locked', 'any'),
  },
  {
    when: 'no prompt has this name (`fleet/prompt`)',
    type: 'MCPPromptNotFoundError',
    async run({ fleet }) {
      await fleet.prompts('offers');
      return failure(fleet.prompt({ server: 'offers', name: 'gret' }));
    },
  },
  {
    when: 'no resource has this URI (`fleet/resource`)',
    type: 'MCPResourceNotFoundError',
    run: ({ fleet }) => failure(fleet.resource({ server: 'offers', uri: 'image://line' })),
  },
  {
    when: 'the agent.yaml of the connection is not allowed (`fleet/hello`)',
    type: 'TrustRequiredError',
    async run() {
      // the config of the others allows every file
      const { home } = await startHerd('version: "1.0"\n');
      const peer = await connectSocket({ path: home.socket });
      const agent = join(makeFolder({ 'agent.yaml': AGENT }), 'agent.yaml');
      const refused = await failure(peer.request('fleet/hello', { agent }));
      peer.end();
      return refused;
    },
  },
  {
    when: 'its caller cancels it',
    type: 'CancelledError',
    async run({ fleet, status }) {
      const abort = new AbortController();
      const cancelled = fleet.call({ server: 'idle', tool: 'wait' }, { signal: abort.signal });
      await until(async () => (await status('idle')).in_flight === 1);
      abort.abort();
      return cancelled;
    },
  },
];

/** A port without a listener, one with another program, and one that refuses every request. */
interface Ports {
  closed: number;
  wrong: number;
  locked: number;
}

function entries({ closed, wrong, locked }: Ports): Entry[] {
  const remote = { description: 'd', server: 'r', transport: 'http' };
  return [
    command('missing', 'no-such-command', []),
    command('absent', '/opt/nowhere/mcp-server', []),
    server('exits', 'exits-at-start.mjs', {
      max_restarts: 3,
      backoff: { min: 15, max: 15, factor: 1, jitter: 0 },
    }),
    server('silent', 'silent.mjs', { start_timeout: 1 }),
    server('nokey', 'needs-key.mjs'),
    server('nopackage', 'finds-no-package.mjs'),
    server('strange', 'refuses.mjs', { args: ['shape'] }),
    server('good', 'good.mjs'),
    server('hangs', 'good.mjs', { ping: { interval: 1, timeout: 1 } }),
    { name: 'remote', ...remote, url: `http://127.0.0.1:${closed}/mcp` },
    { name: 'misplaced', ...remote, url: `http://127.0.0.1:${wrong}/`, backoff: { jitter: 0 } },
    server('content', 'content.mjs'),
    server('noisy', 'noisy.mjs'),
    server('huge', 'huge.mjs', { max_message_bytes: 10_000 }),
    server('busy', 'good.mjs', { max_in_flight: 1 }),
    server('off', 'good.mjs', { enabled: false }),
    server('unset', 'good.mjs', { env: { TOKEN: `\${HANDBOOK_TOKEN}` } }),
    server('idle', 'good.mjs'),
    server('offers', '../fixtures/offers.mjs'),
    { name: 'locked', ...remote, url: `http://127.0.0.1:${locked}/mcp` },
  ];
}

/** A port without a listener. An open connection has it, so that no other test can listen there meanwhile. */
async function closedPort(): Promise<number> {
  const listener = createServer();
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as { port: number };
  const client = connect(port, '127.0.0.1');
  await once(client, 'connect');
  onTestFinished(() => {
    client.destroy();
    listener.close();
  });
  return client.localPort!;
}

/** A port at which a web server listens that gives every request this status. */
async function portOf(status: number, text: string): Promise<number> {
  const server = createHttp((_request, response) => response.writeHead(status).end(text));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as { port: number }).port;
}

/** What differs from one machine and one run to the next is taken out. */
function settle(text: string | undefined, herd: Herd, { closed, wrong, locked }: Ports): string {
  return (text ?? '')
    .replaceAll(herd.home.folder, '~')
    .replace(/PATH is \S+/, 'PATH is /usr/bin:…')
    .replaceAll(process.execPath, 'node')
    .replaceAll(`${fixturePath('')}/`, '~/')
    .replaceAll(String(closed), 'PORT')
    .replaceAll(String(wrong), 'PORT')
    .replaceAll(String(locked), 'PORT')
    .replace(/config\.yaml:\d+:\d+/, 'config.yaml:9:21')
    .replace(/tries it again in [\d.]+ s/, 'tries it again in 29.9 s')
    .replace(/the next try is in 1\d\.\d s/, 'the next try is in 14.9 s')
    .replace(/the next try is in (300|299)\.\d s/, 'the next try is in 299.9 s')
    .replace(/or with a call in ([0-4]\.\d|5\.0) s/, 'or with a call in 4.9 s')
    .replace(/or with a call in ([5-9]\.\d|10\.0) s/, 'or with a call in 9.9 s')
    .replace(/the reply to tools\/call has \d+ bytes/, 'the reply to tools/call has 50069 bytes')
    .replaceAll(AGENT_FILE, '~/agent.yaml')
    .replaceAll('|', '\\|')
    .replaceAll('\n', ' ');
}

test('SC-003 FR-021 FR-022 FR-023 US5.1 US5.2 US5.3 US5.4: each failed call says why, and the fix', async () => {
  const ports = {
    closed: await closedPort(),
    wrong: await portOf(404, 'Not Found'),
    locked: await portOf(401, 'Unauthorized'),
  };
  const herd = await startHerd(config(entries(ports)));
  // a list that is known is what a near miss is found in
  await herd.fleet.tools('good');
  const errors: { situation: Situation; error: WireError }[] = [];
  for (const situation of SITUATIONS) {
    const { success, error } = await situation.run(herd);
    expect([situation.when, success, error?.type]).toEqual([situation.when, false, situation.type]);
    if (error !== null) errors.push({ situation, error });
  }
  const rows = errors.map(({ situation, error: { type, message, why, fix, retryable, sent } }) => {
    const texts = [message, why, fix].map((text) => settle(text, herd, ports));
    return [situation.when, `\`${type}\``, ...texts, retryable ? 'yes' : 'no', sent ? 'yes' : 'no'];
  });
  for (const row of rows) for (const cell of row) expect([row[0], cell]).not.toContain('');
  expectRegion(
    'docs/ERRORS.md',
    'errors',
    markdownTable(['when', 'type', 'what happened', 'why', 'what to do', 'retryable', 'sent'], rows),
  );
}, 60_000);

test('every type of error in src has its meaning, JSON-RPC code and exit status in ERRORS.md (npm run docs)', () => {
  expect(describedTypes()).toEqual(typesInSource());
  const head = ['type', 'meaning', 'code', 'exit status'];
  expectRegion('docs/ERRORS.md', 'error types', markdownTable(head, typeRows()));
});

test('every class of errors in src has a type, or no user sees it', () => {
  expect(untypedClasses()).toEqual(UNTYPED);
});

test('every JSON-RPC code of toolherd belongs to a type that ERRORS.md describes', () => {
  expect(Object.keys(ERROR_CODES).filter((type) => !describedTypes().includes(type))).toEqual([]);
});
