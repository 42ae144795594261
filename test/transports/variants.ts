import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { command, type Entry, fixturePath, server } from '../faults/config.js';
import { killNow } from '../support/processes.js';
import { EVERYTHING, everything, freePort, type Remote } from '../support/remote-servers.js';
import { atEnd } from '../support/share.js';

/** A server that was made ready for its tests. */
export interface Prepared {
  entry: Entry;
  /** Ends it as a crash would. `pids`: its processes, where the daemon has them. */
  crash(pids: readonly number[]): Promise<void>;
  /** Starts it again, if only its owner can. */
  revive(): Promise<void>;
}

/** What is asked of a server to see a behaviour; both kinds of servers have them all. */
export interface Moves {
  tool: string;
  call: { tool: string; arguments: Record<string, unknown>; text: string };
  fails: { tool: string; arguments: Record<string, unknown> };
  progress: { tool: string; arguments: Record<string, unknown>; steps: number };
  endless: { tool: string; arguments: Record<string, unknown> };
  logs: { tool: string; arguments: Record<string, unknown> };
  changes: { tool: string; arguments: Record<string, unknown>; list: 'tools' | 'resources' };
  prompt: { name: string; arguments: Record<string, unknown>; text: string };
  resource: { uri: string; text: string };
}

export interface Variant {
  name: string;
  version: RegExp;
  /** What its end is to a call: a process is seen to die, of a connection only its end is known. */
  loss: 'ServerCrashedError' | 'MCPConnectionError';
  moves: Moves;
  prepare(): Promise<Prepared>;
}

const EVERYTHING_MOVES: Moves = {
  tool: 'get-sum',
  call: { tool: 'get-sum', arguments: { a: 2, b: 3 }, text: 'The sum of 2 and 3 is 5.' },
  fails: { tool: 'get-sum', arguments: { a: 'two' } },
  progress: { tool: 'trigger-long-running-operation', arguments: { duration: 0.3, steps: 3 }, steps: 3 },
  endless: { tool: 'trigger-long-running-operation', arguments: { duration: 600, steps: 6000 } },
  logs: { tool: 'toggle-simulated-logging', arguments: {} },
  changes: {
    tool: 'gzip-file-as-resource',
    arguments: { name: 'x.gz', data: 'data:text/plain,hello', outputType: 'resourceLink' },
    list: 'resources',
  },
  prompt: { name: 'args-prompt', arguments: { city: 'Ghent' }, text: 'Ghent' },
  resource: { uri: 'demo://resource/static/document/features.md', text: 'Features' },
};

const MODERN_MOVES: Moves = {
  tool: 'echo',
  call: { tool: 'echo', arguments: { value: 'hi' }, text: 'hi' },
  fails: { tool: 'fail', arguments: {} },
  progress: { tool: 'progress', arguments: { times: 3 }, steps: 3 },
  endless: { tool: 'wait', arguments: {} },
  logs: { tool: 'log', arguments: { level: 'warning', value: 'take care' } },
  changes: { tool: 'change', arguments: {}, list: 'tools' },
  prompt: { name: 'greet', arguments: { name: 'Ghent' }, text: 'hello Ghent' },
  resource: { uri: 'note://one', text: 'noted' },
};

export const VARIANTS: readonly Variant[] = [
  {
    name: 'stdio',
    version: /^2025-/,
    loss: 'ServerCrashedError',
    moves: EVERYTHING_MOVES,
    prepare: async () => stdio(command('it', process.execPath, [EVERYTHING, 'stdio'])),
  },
  ...(['sse', 'websocket', 'http'] as const).map((transport) => ({
    name: transport,
    version: /^202[45]-/,
    loss: 'MCPConnectionError' as const,
    moves: EVERYTHING_MOVES,
    prepare: () => remote(transport),
  })),
  {
    name: 'stdio, modern',
    version: /^2026-07-28$/,
    loss: 'ServerCrashedError',
    moves: MODERN_MOVES,
    prepare: async () => stdio(server('it', 'modern.mjs')),
  },
  {
    name: 'http, modern',
    version: /^2026-07-28$/,
    loss: 'MCPConnectionError',
    moves: MODERN_MOVES,
    prepare: modernHttp,
  },
];

function stdio(entry: Entry): Prepared {
  return {
    entry,
    crash: async (pids) => pids.forEach(killNow),
    revive: async () => undefined,
  };
}

async function remote(transport: Remote): Promise<Prepared> {
  const it = await everything(transport);
  atEnd(() => it.kill());
  return { entry: entryOf(transport, it.url), crash: () => it.kill(), revive: () => it.start() };
}

async function modernHttp(): Promise<Prepared> {
  const port = await freePort();
  let child: ChildProcess | undefined;
  const start = async () => {
    child = spawn(process.execPath, [fixturePath('modern-http.mjs'), String(port)], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(createInterface(child.stdout!), 'line');
  };
  const kill = async () => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  atEnd(kill);
  await start();
  return { entry: entryOf('http', `http://127.0.0.1:${port}/mcp`), crash: kill, revive: start };
}

function entryOf(transport: Remote, url: string): Entry {
  return { name: 'it', description: 'it', server: 'it', transport, url };
}
