import { expect, it } from 'vitest';
import { command } from '../../../../src/cli/commands/servers/status.js';
import type { CommandInput } from '../../../../src/cli/core/command.js';
import { createOutput } from '../../../../src/cli/ui/output.js';

it('status --wait misses no change, also not one that comes while it begins to listen', async () => {
  const listeners: (() => void)[] = [];
  let state = 'connecting';
  const fleet = {
    // it has changed by the time the answer is there
    async status() {
      const servers = [
        { name: 'a', state, detail: 'running', pids: [], latency_ms: {}, since: '', last_error: null },
      ];
      state = 'connected';
      for (const listen of listeners.splice(0)) listen();
      return { servers, daemon: { config_error: null } };
    },
    subscribe(_: unknown, listen: () => void) {
      listeners.push(listen);
      return () => listeners.splice(0);
    },
  };
  const said = { write: () => true };
  const output = createOutput({ stdout: said, stderr: said }, { json: true, quiet: false });
  const call = {
    args: { servers: [] },
    options: { wait: true },
    globals: {},
    output,
    fleet: async () => fleet,
  } as unknown as CommandInput;
  expect(await command.run(call)).toBe(0);
});

it('status --wait also ends where no event tells of the change: of servers of other views none does', async () => {
  let looks = 0;
  const fleet = {
    async status() {
      looks += 1;
      const state = looks < 3 ? 'connecting' : 'connected';
      const row = { name: 'a', other_view: true, state, detail: 'running', pids: [], latency_ms: {} };
      return {
        servers: [{ ...row, agent: null, since: '', last_error: null }],
        daemon: { config_error: null },
      };
    },
    subscribe: () => () => {},
  };
  const said = { write: () => true };
  const output = createOutput({ stdout: said, stderr: said }, { json: true, quiet: false });
  const open = async () => fleet;
  const call = {
    args: { servers: ['a'] },
    options: { wait: true },
    globals: {},
    output,
    fleet: open,
  } as unknown as CommandInput;
  expect(await command.run(call)).toBe(0);
});

it('status --wait fails when the daemon ends: no more events come', async () => {
  let isGone = false;
  const fleet = {
    async status() {
      if (isGone) throw new Error('the connection is closed');
      const servers = [{ name: 'a', state: 'connecting', detail: 'running' }];
      return { servers, daemon: { config_error: null } };
    },
    subscribe: () => () => {},
  };
  const said = { write: () => true };
  const output = createOutput({ stdout: said, stderr: said }, { json: true, quiet: false });
  const open = async ({ onLost }: { onLost: () => void }) => {
    setTimeout(() => {
      isGone = true;
      onLost();
    }, 10);
    return fleet;
  };
  const call = {
    args: { servers: [] },
    options: { wait: true },
    globals: {},
    output,
    fleet: open,
  } as unknown as CommandInput;
  await expect(command.run(call)).rejects.toThrow('the connection is closed');
});
