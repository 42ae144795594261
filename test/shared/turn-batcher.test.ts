import { expect, it } from 'vitest';
import { TurnBatcher } from '../../src/shared/turn-batcher.js';

/** A batcher whose turns the test ends. */
function batcher() {
  const ends: (() => void)[] = [];
  let ended = 0;
  const turn = new TurnBatcher(
    (end) => ends.push(end),
    () => {
      ended += 1;
    },
  );
  const runTurn = (texts: number) => {
    turn.begin();
    for (let count = 0; count < texts; count += 1) turn.countText();
    ends.shift()?.();
  };
  return { turn, runTurn, ended: () => ended };
}

it('a batcher writes the first text at once until a turn has had several, and again after a turn with one', () => {
  const { turn, runTurn, ended } = batcher();
  const seen = [turn.writesFirstAtOnce];
  for (const texts of [1, 2, 0, 3]) {
    runTurn(texts);
    seen.push(turn.writesFirstAtOnce);
  }
  expect(seen).toEqual([true, true, false, true, false]);
  expect(ended()).toBe(4);
});

it('a turn runs from `begin` until its end', () => {
  const { turn, runTurn } = batcher();
  expect(turn.isRunning).toBe(false);
  runTurn(1);
  expect(turn.isRunning).toBe(false);
  turn.begin();
  expect(turn.isRunning).toBe(true);
});

it('a turn does not count texts that came before `forgetCount`', () => {
  const { turn, runTurn } = batcher();
  turn.countText();
  turn.countText();
  turn.forgetCount();
  runTurn(1);
  expect(turn.writesFirstAtOnce).toBe(true);
});
