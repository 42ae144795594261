import { describe, expect, test } from 'vitest';
import { setup } from 'xstate';
import { keeperMachine, mermaid, serverMachine, transientMachine } from '../../src/machines/index.js';

describe('a chart is drawn from the definition', () => {
  test('the server machine, as it was reviewed', async () => {
    await expect(mermaid(serverMachine)).toMatchFileSnapshot('server.mmd');
  });

  test('the keeper, as it was reviewed', async () => {
    await expect(mermaid(keeperMachine)).toMatchFileSnapshot('keeper.mmd');
  });

  test('the transient machine, as it was reviewed', async () => {
    await expect(mermaid(transientMachine)).toMatchFileSnapshot('transient.mmd');
  });

  test('has the states and arrows of the definition, and no others', () => {
    const machine = setup({}).createMachine({
      initial: 'off',
      states: {
        off: { on: { press: 'on' } },
        on: {
          initial: 'dim',
          states: { dim: { on: { turn: 'bright', press: {} } }, bright: { after: { 50: 'dim' } } },
          on: { press: 'off', dip: '.dim', again: { target: 'on', reenter: true } },
        },
        broken: { type: 'final' },
      },
      on: { smash: '.broken' },
    });
    expect(mermaid(machine)).toBe(
      [
        'stateDiagram-v2',
        '  [*] --> off',
        '  state "off" as off',
        '  state "on" as on {',
        '    [*] --> on_dim',
        '    state "dim" as on_dim',
        '    state "bright" as on_bright',
        '  }',
        '  state "broken" as broken',
        '  off --> broken : smash',
        '  on --> broken : smash',
        '  off --> on : press',
        '  on --> off : press',
        '  on_dim --> on_dim : dip<br/>again',
        '  on_bright --> on_dim : dip<br/>again<br/>after 50',
        '  on_dim --> on_bright : turn',
        '  broken --> [*]',
        '',
      ].join('\n'),
    );
  });

  test('no arrow runs between a state and one inside it: renderers stumble over those', () => {
    const machines = [
      [serverMachine, 15],
      [keeperMachine, 15],
      [transientMachine, 12],
    ] as const;
    for (const [machine, least] of machines) {
      const arrows = [...mermaid(machine).matchAll(/^ {2}(\w+) --> (\w+) :/gm)];
      expect(arrows.length).toBeGreaterThan(least);
      const nested = arrows.filter(([, a = '', b = '']) => a.startsWith(`${b}_`) || b.startsWith(`${a}_`));
      expect(nested.map(([line]) => line)).toEqual([]);
    }
  });

  test('the present state is marked, the shown state around it where it is deeper', () => {
    expect(mermaid(serverMachine, 'created')).toMatch(/ {2}class created present\n$/);
    expect(mermaid(serverMachine, { connected: 'serving' })).toMatch(
      / {2}class connected_serving present\n$/,
    );
    expect(mermaid(serverMachine, { connecting: { aborting: 'asking' } })).toMatch(
      /class connecting_aborting present\n$/,
    );
    expect(mermaid(serverMachine)).not.toContain('present');
  });
});
