import { describe, expect, it } from 'vitest';
import { FairQueue } from '../../../src/link/calls/fair-queue.js';
import { harness } from './harness.js';

interface Item {
  name: string;
  turn: string | undefined;
  bytes: number;
}

const items = (...names: string[]): Item[] =>
  names.map((name) => ({ name, turn: name.startsWith('-') ? undefined : name.charAt(0), bytes: 10 }));

const drain = (line: FairQueue<Item>) => line.takeAll().map(({ name }) => name);

function lineOf(...names: string[]) {
  const line = new FairQueue<Item>();
  const waiting = items(...names);
  for (const item of waiting) line.push(item);
  return { line, waiting };
}

describe('the fair queue', () => {
  it('takes turns between callers, and keeps the order of each', () => {
    expect(drain(lineOf('a1', 'a2', 'a3', 'b1', 'c1', 'b2').line)).toEqual([
      'a1',
      'b1',
      'c1',
      'a2',
      'b2',
      'a3',
    ]);
  });

  it("serves one caller's single call next, for any number of calls of another", () => {
    const { line } = lineOf(...Array.from({ length: 10_000 }, (_, index) => `a${index}`));
    line.shift();
    line.push(items('b')[0]!);
    expect([line.shift()?.name, line.shift()?.name]).toEqual(['a1', 'b']);
  });

  it('treats calls without a caller as one caller', () => {
    expect(drain(lineOf('-1', '-2', 'a1').line)).toEqual(['-1', 'a1', '-2']);
  });

  it('removes an item from any position, and counts right', () => {
    const { line, waiting } = lineOf('a1', 'a2', 'b1');
    expect([line.remove(waiting[1]!), line.remove(waiting[1]!), line.size, line.bytes]).toEqual([
      true,
      false,
      2,
      20,
    ]);
    expect([line.sizeOf('a'), line.sizeOf('b'), line.sizeOf('c')]).toEqual([1, 1, 0]);
    expect([drain(line), line.size, line.bytes, line.shift()]).toEqual([['a1', 'b1'], 0, 0, undefined]);
  });

  it('forgets callers without waiting items: a caller that comes back is last', () => {
    const { line } = lineOf('a1', 'b1');
    line.shift();
    for (const item of items('a2', 'b2')) line.push(item);
    expect(drain(line)).toEqual(['b1', 'a2', 'b2']);
  });
});

describe('a session whose server is busy', () => {
  it('takes turns between callers, and accepts the first call of another caller when one caller has many', () => {
    const { session, requests, reply } = harness({ maxInFlight: 1, maxWaiting: 3 });
    const errors: string[] = [];
    const send = (caller: string, mark: string) =>
      session.send(
        { method: 'tools/call', params: { mark }, caller },
        { settle: (outcome) => void (outcome.ok || errors.push(`${mark} ${outcome.error.type}`)) },
      );
    for (const mark of ['a1', 'a2', 'a3', 'a4', 'a5']) send('a', mark);
    expect(errors).toEqual(['a5 OverloadedError']);
    send('b', 'b1');
    send('b', 'b2');
    expect(errors).toEqual(['a5 OverloadedError', 'b2 OverloadedError']);
    for (let sent = 0; sent < 5; sent += 1) reply(requests()[sent]?.id);
    expect(requests().map(({ params }) => params?.mark)).toEqual(['a1', 'a2', 'b1', 'a3', 'a4']);
  });

  it('gives callers with a common turn one turn together, and one place in a full queue', () => {
    const { session, requests, reply } = harness({ maxInFlight: 1, maxWaiting: 3 });
    const errors: string[] = [];
    const send = (caller: string, turn?: string) =>
      session.send(
        { method: 'tools/call', params: { mark: caller }, caller, turn },
        { settle: (outcome) => void (outcome.ok || errors.push(`${caller} ${outcome.error.type}`)) },
      );
    for (const caller of ['h1', 'h2', 'h3', 'h4', 'h5']) send(caller, 'http');
    expect(errors).toEqual(['h5 OverloadedError']);
    send('b');
    for (let sent = 0; sent < 5; sent += 1) reply(requests()[sent]?.id);
    expect(requests().map(({ params }) => params?.mark)).toEqual(['h1', 'h2', 'b', 'h3', 'h4']);
  });
});
