import { describe, expect, test } from 'vitest';
import type { CallHandle, CallRequest } from '../../../src/link/calls/call.js';
import { cancelled } from '../../../src/link/calls/refusals.js';
import {
  MCPConnectionError,
  type MCPError,
  MCPTimeoutError,
  MCPToolNotFoundError,
  ServerUnavailableError,
} from '../../../src/shared/call-errors.js';
import type { CallSink } from '../../../src/shared/call-sink.js';
import type { Candidate } from '../../../src/supervisor/cluster/candidate.js';
import { MovableCall } from '../../../src/supervisor/cluster/movable-call.js';
import { VirtualClock } from '../../../src/testing/index.js';
import { Caller, request } from '../world.js';

/** A node that does with a call what the test says. `refusal`: it refuses before `send` returns. */
class FakeNode implements Candidate {
  readonly node: string | undefined;
  readonly readiness = 'ready';
  readonly load = 0;
  readonly requests: CallRequest[] = [];
  readonly cancels: string[] = [];
  readonly endings: boolean[] = [];
  refusal: MCPError | undefined;
  during: () => void = () => undefined;
  sink: CallSink | undefined;

  constructor(node: string | undefined, refusal?: MCPError) {
    this.node = node;
    this.refusal = refusal;
  }

  send(given: CallRequest, sink: CallSink): CallHandle | undefined {
    this.requests.push(given);
    this.sink = sink;
    this.during();
    if (this.refusal !== undefined) {
      sink.settle({ ok: false, error: this.refusal });
      return undefined;
    }
    const cancel = (reason = '') => {
      this.cancels.push(reason);
      this.fails(cancelled('srv', false, reason));
    };
    return { id: 1, cancel };
  }

  ended(isRefused: boolean): void {
    this.endings.push(isRefused);
  }

  fails(error: MCPError): void {
    this.sink?.settle({ ok: false, error });
  }

  answers(): void {
    this.sink?.settle({ ok: true, result: { from: this.node } });
  }
}

const NO_NODE = new ServerUnavailableError('srv: no node');
const away = (node: string, sent = false) =>
  new MCPConnectionError(`srv: ${node} is gone`, { sent, retryable: true });

function call(nodes: FakeNode[], timeoutMs?: number) {
  const clock = new VirtualClock();
  const caller = new Caller();
  const home = {
    ...{ name: 'srv', clock, timeoutMs: 20_000, refusal: () => NO_NODE },
    next: (tried: readonly Candidate[]) => nodes.find((node) => !tried.includes(node)),
  };
  const moved = new MovableCall(home, request('x', timeoutMs), caller);
  return { clock, caller, moved, place: () => moved.place() };
}

describe('a call that a node refuses', () => {
  test('before anything was sent goes to the next node, and each gets it once', () => {
    const nodes = [new FakeNode(undefined, away('a')), new FakeNode('b', away('b')), new FakeNode('c')];
    const { caller, place } = call(nodes);
    place();
    expect(nodes.map(({ requests }) => requests.length)).toEqual([1, 1, 1]);
    nodes[2]!.answers();
    expect(caller.result).toEqual({ from: 'c' });
    expect(nodes.map(({ endings }) => endings)).toEqual([[true], [true], [false]]);
  });

  test('later, while it waits there, goes to the next node', () => {
    const nodes = [new FakeNode('b'), new FakeNode('c')];
    const { caller, place } = call(nodes);
    place();
    expect(nodes[1]!.requests).toEqual([]);
    nodes[0]!.fails(away('b'));
    nodes[1]!.answers();
    expect(caller.result).toEqual({ from: 'c' });
  });

  test('after it was sent fails there, and no other node gets it', () => {
    const nodes = [new FakeNode('b'), new FakeNode('c')];
    const { caller, place } = call(nodes);
    place();
    nodes[0]!.fails(away('b', true));
    expect([caller.error.sent, nodes[1]!.requests.length]).toEqual([true, 0]);
  });

  test('fails there, where the call itself is the reason: every node would refuse it', () => {
    const nodes = [new FakeNode('b', new MCPToolNotFoundError('srv has no tool x')), new FakeNode('c')];
    const { caller, place } = call(nodes);
    place();
    expect([caller.error.type, nodes[1]!.requests.length]).toEqual(['MCPToolNotFoundError', 0]);
  });

  test('fails, after all refused it, with what each of them said, or with the one thing that all said', () => {
    const several = call([new FakeNode(undefined, away('a')), new FakeNode('b', away('b'))]);
    several.place();
    expect(several.caller.error).toMatchObject({
      ...{
        type: 'ServerUnavailableError',
        message: 'srv: no node took the call',
        sent: false,
        retryable: true,
      },
      why: 'it was not sent; this node: a is gone; b: b is gone',
    });
    const same = call([new FakeNode('b', away('x')), new FakeNode('c', away('x'))]);
    same.place();
    expect(same.caller.error.message).toBe('srv: x is gone');
  });

  test('fails with the reason where there is no node', () => {
    const { caller, place, moved } = call([]);
    place();
    expect([caller.error, moved.isSettled]).toEqual([NO_NODE, true]);
  });
});

describe('the time of a call', () => {
  test('is what is left of it, at the next node', () => {
    const nodes = [new FakeNode('b'), new FakeNode('c')];
    const { clock, place } = call(nodes, 1000);
    place();
    clock.advance(400);
    nodes[0]!.fails(away('b'));
    expect(nodes.map(({ requests }) => requests[0]?.timeoutMs)).toEqual([1000, 600]);
  });

  test('is over for all nodes at once', () => {
    const nodes = [new FakeNode('b'), new FakeNode('c')];
    const { clock, place, caller } = call(nodes, 1000);
    place();
    clock.advance(1000);
    nodes[0]!.fails(new MCPTimeoutError('srv: was not connected within the 1 s of this call'));
    expect([caller.error.type, nodes[1]!.requests.length]).toEqual(['MCPTimeoutError', 0]);
  });

  test('is that of the server where it brings none: until then a timeout of a node is not final', () => {
    const early = [new FakeNode('b'), new FakeNode('c')];
    const late = [new FakeNode('b'), new FakeNode('c')];
    for (const [nodes, ms] of [
      [early, 19_999],
      [late, 20_000],
    ] as const) {
      const { clock, place } = call([...nodes]);
      place();
      clock.advance(ms);
      nodes[0]!.fails(new MCPTimeoutError('srv: no reply'));
    }
    expect([early[1]!.requests.length, late[1]!.requests.length]).toEqual([1, 0]);
  });
});

describe('a cancellation', () => {
  test('goes to the node that has the call, which no other gets then', () => {
    const nodes = [new FakeNode('b', away('b')), new FakeNode('c'), new FakeNode('d')];
    const { caller, moved, place } = call(nodes);
    place();
    moved.cancel('enough');
    expect([nodes[1]!.cancels, caller.error.type]).toEqual([['enough'], 'CancelledError']);
    expect(nodes[2]!.requests).toEqual([]);
  });

  test('reaches the node that is just given the call', () => {
    const nodes = [new FakeNode('b')];
    const { caller, moved, place } = call(nodes);
    nodes[0]!.during = () => moved.cancel('enough');
    place();
    expect([nodes[0]!.cancels, caller.error.type]).toEqual([['enough'], 'CancelledError']);
  });

  test('ends a call that a node is just refusing, and no other gets it', () => {
    const nodes = [new FakeNode('b', away('b')), new FakeNode('c')];
    const { caller, moved, place } = call(nodes);
    nodes[0]!.during = () => moved.cancel('enough');
    place();
    expect([caller.error.type, caller.error.sent, nodes[1]!.requests.length]).toEqual([
      'CancelledError',
      false,
      0,
    ]);
  });

  test('after the outcome changes nothing', () => {
    const nodes = [new FakeNode('b')];
    const { caller, moved, place } = call(nodes);
    place();
    nodes[0]!.answers();
    moved.cancel();
    expect([nodes[0]!.cancels.length, caller.result]).toEqual([0, { from: 'b' }]);
  });
});
