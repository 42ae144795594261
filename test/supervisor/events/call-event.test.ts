import { describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/fleet/fleet.js';
import { RawOutcome } from '../../../src/link/calls/outcome.js';
import { asCallError, MCPTimeoutError } from '../../../src/shared/call-errors.js';
import { RawJson } from '../../../src/shared/framing/raw-json.js';
import { callEvent, type EndedCall, factsOf } from '../../../src/supervisor/events/call-event.js';
import { CleanNames } from '../../../src/supervisor/events/clean-names.js';

const at = '2026-01-01T00:00:00.000Z';
const HERE: Caller = { via: 'library', client: null, agent: null };
const HOSTILE = 'a"\n\u2028\\ \ud800';

function eventOf(
  call: Partial<EndedCall>,
  from = HERE,
  server = 's',
  names = new CleanNames((name) => name),
) {
  const request = { method: 'tools/call', params: { name: 't', arguments: {} } };
  const outcome = { ok: true as const, result: {} };
  const ended = { request, outcome, elapsedMs: 1, incarnation: 1, ...call };
  const text = JSON.stringify(callEvent(server, factsOf(ended), { from, at, names }));
  expect(text).not.toContain('\n');
  return JSON.parse(text) as Record<string, unknown>;
}

describe('the event of a call', () => {
  it('is valid JSON for any names of server, caller and tool', () => {
    const from = { via: 'http', client: { name: HOSTILE, version: HOSTILE }, agent: HOSTILE } as const;
    const request = { method: 'tools/call', params: { name: HOSTILE }, caller: HOSTILE, requestId: HOSTILE };
    expect(eventOf({ request }, from, HOSTILE)).toMatchObject({
      ...{ server: HOSTILE, tool: HOSTILE, caller: HOSTILE, request_id: HOSTILE, agent: HOSTILE },
      client: { name: HOSTILE, version: HOSTILE },
      arguments: null,
    });
  });

  it('the id of a request has no secret, and a long one is shown by its length', () => {
    const names = new CleanNames((text) => text.replaceAll('hunter2', '[PASSWORD]'));
    const idOf = (requestId: string) =>
      eventOf({ request: { method: 'tools/call', requestId } }, HERE, 's', names).request_id;
    expect(['id-hunter2', 'id-hunter2', 'x'.repeat(257)].map(idOf)).toEqual([
      ...['id-[PASSWORD]', 'id-[PASSWORD]'],
      '(257 characters)',
    ]);
  });

  it.each([
    [0, 0],
    [0.004, 0],
    [1.005, 1],
    [12.3456, 12.35],
    [99.999, 100],
    [7_200_000.5, 7_200_000.5],
    [-1, 0],
  ])('has a duration of %d ms as %d', (elapsedMs, duration_ms) => {
    expect(eventOf({ elapsedMs }).duration_ms).toBeCloseTo(duration_ms, 2);
  });

  it('has no URI of a resource', () => {
    const request = { method: 'resources/read', params: { uri: 'file:///secret', arguments: { a: 1 } } };
    expect(eventOf({ request })).toMatchObject({ method: 'resources/read', tool: null, arguments: null });
    expect(JSON.stringify(eventOf({ request }))).not.toContain('secret');
  });

  it('has the same error and `sent` as the result of the call', () => {
    const error = new MCPTimeoutError('no reply', { sent: true });
    expect(eventOf({ outcome: { ok: false, error } })).toMatchObject({
      ...{ ok: false, error: 'MCPTimeoutError', sent: true, bytes: null },
    });
    const failed = { ok: true as const, result: { isError: true }, bytes: 7 };
    expect(eventOf({ outcome: failed })).toMatchObject({ ok: false, error: 'MCPToolError', bytes: 7 });
    const request = { method: 'prompts/get', params: { name: 'p', arguments: { a: '1' } } };
    expect(eventOf({ request, outcome: failed })).toMatchObject({ ok: true, arguments: { a: 'string' } });
  });

  it('is built from facts that do not hold the result', () => {
    const outcome = { ok: true as const, result: { content: ['large'] }, bytes: 7 };
    const request = { method: 'tools/call', params: { name: 't' } };
    const facts = factsOf({ request, outcome, elapsedMs: 1, incarnation: 1 });
    expect(JSON.stringify(facts)).not.toContain('large');
  });

  it('names a bug of toolherd InternalError', () => {
    const error = asCallError(new TypeError('x is not a function'), () => undefined);
    expect(eventOf({ outcome: { ok: false, error } })).toMatchObject({
      ...{ ok: false, error: 'InternalError', sent: false },
    });
  });

  it('has the size of a raw result without parsing it', () => {
    const raw = new RawJson([Buffer.from('{ this is not parsed')]);
    expect(eventOf({ outcome: new RawOutcome(raw, true) })).toMatchObject({ ok: false, bytes: 20 });
    expect(eventOf({ outcome: new RawOutcome(raw, undefined) })).toMatchObject({ ok: true, bytes: 20 });
  });
});
