import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import type { Line } from '../ipc/mcp/support.js';
import { COMMAND } from './command.js';
import type { Home } from './herd.js';
import { until } from './until.js';

export interface BridgeProcess {
  child: ChildProcess;
  /** Everything that it printed. */
  lines: Line[];
  /** Its exit status, when everything that it printed was read. */
  exit: Promise<number | null>;
  say(message: object): void;
  reply(id: unknown): Promise<Line>;
}

export interface BridgeOptions {
  flags?: readonly string[];
  env?: Record<string, string>;
  cwd?: string;
}

/** A bridge that is spoken to by lines. */
export function startBridge(
  home: Home,
  { flags = [], env = {}, cwd = home.folder }: BridgeOptions = {},
): BridgeProcess {
  const child: ChildProcess = spawn(process.execPath, [COMMAND, 'bridge', ...flags], {
    env: { ...home.environment, ...env },
    cwd,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const lines: Line[] = [];
  // not `exit`: its last lines may be read after that
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
  createInterface({ input: child.stdout! }).on('line', (text) => lines.push(JSON.parse(text)));
  child.stdin!.on('error', () => undefined);
  onTestFinished(() => void child.kill('SIGKILL'));
  return {
    child,
    lines,
    exit,
    say: (message) => void child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    reply: (id) => until(() => lines.find((line) => line.id === id)),
  };
}

export interface BusyBridge extends BridgeProcess {
  /** How many of its calls were answered with a result that is no error. */
  served(): number;
  /** Makes no further call; resolves when the last one is answered. */
  rest(): Promise<void>;
}

/** After an error an agent thinks for a moment. */
const THOUGHT_MS = 20;

/** A bridge whose agent makes the next call when the last one is answered, however it was answered. */
export async function startBusyBridge(
  home: Home,
  options: { env?: Record<string, string> } = {},
): Promise<BusyBridge> {
  const bridge = startBridge(home, options);
  const clientInfo = { name: 'busy', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  bridge.say({ id: 'first', method: 'initialize', params });
  await bridge.reply('first');
  bridge.say({ method: 'notifications/initialized' });
  let [calls, isBusy] = [0, true];
  const call = () => {
    calls += 1;
    bridge.say({
      id: calls,
      method: 'tools/call',
      params: { name: 'good__echo', arguments: { value: 'x' } },
    });
  };
  createInterface({ input: bridge.child.stdout! }).on('line', (text) => {
    const { id, error } = JSON.parse(text) as Line;
    if (id === calls) setTimeout(() => isBusy && call(), error === undefined ? 0 : THOUGHT_MS);
  });
  call();
  await bridge.reply(1);
  return {
    ...bridge,
    served: () =>
      bridge.lines.filter(
        ({ id, result }) => id !== 'first' && result !== undefined && result.isError !== true,
      ).length,
    async rest() {
      isBusy = false;
      await bridge.reply(calls);
    },
  };
}
