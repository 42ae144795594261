import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { replyIds } from '../../../src/link/calls/reply-source.js';
import { EventGuard } from '../../../src/link/remote/event-guard.js';
import { EDGE_BYTES, type OversizedLine } from '../../../src/shared/framing/framer.js';
import { event, saying } from './tiny-server.js';

const MAX = 20_000;

/** What passes when the text comes in pieces of these sizes, again and again. */
function pass(text: string, sizes: readonly number[]) {
  const dropped: OversizedLine[] = [];
  const guard = new EventGuard(MAX, (line) => dropped.push(line));
  const bytes = Buffer.from(text);
  const passed: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const end = at + (sizes[turn % sizes.length] ?? 1);
    passed.push(...guard.pass(bytes.subarray(at, end)));
    at = end;
  }
  return { text: Buffer.concat(passed).toString(), dropped };
}

const sizes = fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 20 });
const small = event(saying(1, 'ünï'), 'e1');
const large = event(saying(77, 'x'.repeat(3 * MAX)), 'e2');

describe('the event guard', () => {
  it('passes events byte for byte, for any split', () => {
    const text = `: hello\r\n\r\nretry: 5\n\n${small}x\n${small}\n\n\n${event(saying(2, 'y'.repeat(MAX - 200)))}`;
    fc.assert(
      fc.property(sizes, (cut) => {
        expect(pass(text, cut)).toEqual({ text, dropped: [] });
      }),
    );
  });

  it('finds the end of an event by every line ending of the standard', () => {
    for (const end of ['\r\r', '\r\n\r\n', '\n\r', '\r\n\r', '\n\n']) {
      const text = `data: ${'x'.repeat(500)}${end}`.repeat(100);
      fc.assert(
        fc.property(sizes, (cuts) => {
          expect(pass(text, cuts)).toEqual({ text, dropped: [] });
        }),
        { numRuns: 20 },
      );
    }
  });

  it('invalidates an event over the limit, keeps its two ends, and passes those around it', () => {
    fc.assert(
      fc.property(sizes, (cut) => {
        const { text, dropped } = pass(small + large + small, cut);
        expect(text.startsWith(small)).toBe(true);
        expect(text.endsWith(`\nevent: oversized\n\n${small}`)).toBe(true);
        expect(text.length).toBeLessThan(2 * MAX);
        expect(dropped).toHaveLength(1);
        const [{ head, tail, bytes }] = dropped as [OversizedLine];
        expect(bytes).toBe(large.length - 1);
        expect(Math.max(head.length, tail.length)).toBeLessThanOrEqual(EDGE_BYTES);
        expect(replyIds(head, tail)).toEqual([77]);
      }),
    );
  });

  it('many lines that are over the limit together are invalidated as one event', () => {
    const { text, dropped } = pass(`${'data: some\n'.repeat(MAX)}\n${small}`, [4096]);
    expect(text.endsWith(`\nevent: oversized\n\n${small}`)).toBe(true);
    expect(text.length).toBeLessThan(2 * MAX);
    expect(dropped).toHaveLength(1);
  });
});
