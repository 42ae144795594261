import { describe, expect, test } from 'vitest';
import { assign, createActor, createMachine, fromCallback } from 'xstate';
import { type RootReport, rootMachine } from '../../../src/supervisor/herd/root.js';

/** Throws at the event `break`. */
const fragile = createMachine({
  types: {} as { context: { heard: number } },
  context: { heard: 0 },
  on: {
    hear: { actions: assign({ heard: ({ context }) => context.heard + 1 }) },
    break: {
      actions: () => {
        throw new Error('a bug');
      },
    },
  },
});

function startRoot() {
  const root = createActor(rootMachine).start();
  const broke: RootReport[] = [];
  root.on('child.broke', (report) => broke.push(report));
  const keep = (id: string) => {
    root.send({ type: 'keep', id, logic: fragile, input: undefined });
    return root.getSnapshot().children[id]!;
  };
  return { root, broke, keep };
}

describe('the root actor', () => {
  test('reports a child that breaks, and the other children run on', () => {
    const { root, broke, keep } = startRoot();
    const [a, b] = [keep('a'), keep('b')];
    a.send({ type: 'break' });
    expect(broke).toEqual([{ type: 'child.broke', id: 'a', error: new Error('a bug') }]);
    b.send({ type: 'hear' });
    expect((b.getSnapshot() as { context: { heard: number } }).context.heard).toBe(1);
    expect(root.getSnapshot().status).toBe('active');
    expect(keep('c').getSnapshot()).toMatchObject({ status: 'active' });
  });

  test('reports a child that breaks while it starts, and stays active', () => {
    const { root, broke } = startRoot();
    const logic = fromCallback(() => {
      throw new Error('at once');
    });
    root.send({ type: 'keep', id: 'x', logic, input: undefined });
    expect([broke.length, root.getSnapshot().status]).toEqual([1, 'active']);
  });

  test('removes a released child, also a broken one; a release of an unknown child does nothing', () => {
    const { root, keep } = startRoot();
    keep('a').send({ type: 'break' });
    keep('b');
    for (const id of ['a', 'b', 'never']) root.send({ type: 'release', id });
    expect(root.getSnapshot().children).toEqual({});
  });
});
