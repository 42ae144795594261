import { describe, expect, it } from 'vitest';
import { errorIn, harness } from './harness.js';

/** A call that the server works on, as the session itself keeps it. */
function running() {
  const one = harness();
  const sent = one.send('tools/call', {}, { progress: () => undefined });
  const [call] = one.session.running;
  return { ...one, sent, call: call! };
}

describe('a call that is held', () => {
  it('has no timeout but the hard one, also when there is progress meanwhile', () => {
    const { clock, call, sent, progress } = running();
    call.hold();
    progress(sent.id);
    clock.advance(4000);
    expect(sent.outcomes).toEqual([]);
    clock.advance(1100);
    expect(errorIn(sent.outcomes).message).toContain('its hard limit');
  });

  it('gets its timeout back when its last hold is released', () => {
    const { clock, call, sent } = running();
    call.hold();
    call.hold();
    clock.advance(1500);
    call.release();
    clock.advance(1500);
    expect(sent.outcomes).toEqual([]);
    call.release();
    clock.advance(1100);
    expect(errorIn(sent.outcomes).message).toContain('in 1 s');
  });

  it('leaves no deadline behind after its release and its outcome', () => {
    const { clock, call, sent, reply } = running();
    call.hold();
    clock.advance(1500);
    call.release();
    reply(sent.id);
    clock.advance(1100);
    expect(clock.pending).toBe(0);
  });

  it('aborts its signal when it has ended, also for listeners that come late', () => {
    const { call, sent, reply } = running();
    const { ended } = call;
    expect(ended.aborted).toBe(false);
    reply(sent.id);
    expect(ended.aborted).toBe(true);
    expect(running().call.ended.aborted).toBe(false);
    const late = running();
    late.reply(late.sent.id);
    expect(late.call.ended.aborted).toBe(true);
  });
});
