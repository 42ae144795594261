import { expect, it, onTestFinished } from 'vitest';
import { letIn } from '../../src/daemon/authorize.js';
import type { HerdView } from '../../src/supervisor/herd-view.js';

it('a server that is authorised while the herd is shut down fells nobody', async () => {
  const faults: unknown[] = [];
  const listen = (error: unknown) => faults.push(error);
  process.on('unhandledRejection', listen);
  onTestFinished(() => void process.off('unhandledRejection', listen));
  const orders: string[] = [];
  const order = async (what: string) => {
    orders.push(what);
    if (what === 'start') throw new Error('shutting down');
    return [];
  };
  letIn([{ order } as unknown as HerdView], 'guarded');
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect([orders, faults]).toEqual([['reset', 'start'], []]);
});
