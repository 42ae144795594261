import { expect, it, onTestFinished } from 'vitest';
import type { RemoteSpec } from '../../src/config/fields/spec.js';
import { restartAuthorized } from '../../src/daemon/authorize.js';
import type { HerdView } from '../../src/supervisor/herd/herd-view.js';

const GUARDED = { name: 'guarded', transport: 'http', url: 'https://example.com/mcp' } as RemoteSpec;

it('an authorisation restarts the server in views with the same url, and no other server of that name', async () => {
  const orders: string[] = [];
  const view = (name: string, specs: readonly unknown[]) => {
    const order = async (what: string) => orders.push(`${name} ${what}`);
    return { order, specs } as unknown as HerdView;
  };
  const elsewhere = { ...GUARDED, url: 'https://example.com/other' };
  const local = { name: 'guarded', transport: 'stdio' };
  const views = [
    view('same', [GUARDED]),
    view('elsewhere', [elsewhere]),
    view('local', [local]),
    view('none', []),
  ];
  restartAuthorized(views, GUARDED);
  await new Promise((resolve) => setImmediate(resolve));
  expect(orders).toEqual(['same reset', 'same start']);
});

it('an authorisation during the shutdown causes no unhandled rejection', async () => {
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
  restartAuthorized([{ order, specs: [GUARDED] } as unknown as HerdView], GUARDED);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect([orders, faults]).toEqual([['reset', 'start'], []]);
});
