import { expect, test } from 'vitest';
import { createActor } from 'xstate';
import { mermaid } from '../../../src/machines/chart.js';
import { keeperMachine } from '../../../src/machines/keeper.js';
import type { LinkOrder } from '../../../src/machines/link-protocol.js';
import { serverMachine } from '../../../src/machines/server.js';
import type { LinkPort } from '../../../src/supervisor/server/link-actor.js';
import { serverSettings } from '../../../src/supervisor/server/server-settings.js';
import {
  type IncarnationHost,
  sharedKeeper,
  sharedServer,
} from '../../../src/supervisor/server/shared-machines.js';
import { spec } from '../world.js';

/** An incarnation, and what its host was asked for. */
function incarnation(name: string) {
  const asked: string[] = [];
  let port: LinkPort | undefined;
  const host: IncarnationHost = {
    link(given) {
      port = given;
      given.receive((order: LinkOrder) => asked.push(order.type));
      return () => asked.push('dispose');
    },
    openGate: () => asked.push('openGate'),
    sealGate: () => asked.push('sealGate'),
    reap: () => asked.push('reap'),
  };
  const settings = serverSettings(spec({ name }), () => 0);
  const actor = createActor(sharedServer, { input: { ...settings, incarnation: 1, host } }).start();
  actor.subscribe({ error: () => undefined });
  return { actor, asked, report: (type: 'link.opened' | 'link.discovered') => port?.sendBack({ type }) };
}

test('servers that share a statechart share no state', () => {
  const [one, other, third] = [incarnation('one'), incarnation('other'), incarnation('third')];
  one.actor.send({ type: 'connect' });
  expect([one.asked, other.asked, third.asked]).toEqual([['open'], [], []]);
  other.actor.send({ type: 'connect' });
  one.report('link.opened');
  expect(one.asked).toContain('openGate');
  expect([other.asked, third.asked]).toEqual([['open'], []]);
  const before = [...one.asked];
  other.actor.send({ type: 'stop' });
  expect(other.asked).toContain('close');
  expect([one.asked, third.asked]).toEqual([before, []]);
  expect([one, other, third].map(({ actor }) => actor.getSnapshot().context.name)).toEqual([
    'one',
    'other',
    'third',
  ]);
  for (const { actor } of [one, other, third]) actor.stop();
});

test('the shared statecharts equal the documented ones', () => {
  expect(mermaid(sharedServer)).toBe(mermaid(serverMachine));
  expect(mermaid(sharedKeeper)).toBe(mermaid(keeperMachine));
});
