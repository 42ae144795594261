import { describe, expect, it } from 'vitest';
import { consequenceOf, ordersFor, reportOf } from '../../../src/page/text/orders.js';
import { serverOf } from '../support.js';

describe('orders', () => {
  it('a running server can be restarted and stopped, and not started', () => {
    expect(ordersFor(serverOf('a'))).toEqual(['restart', 'stop']);
    expect(ordersFor({ ...serverOf('a'), elsewhere: true })).toEqual([]);
  });

  it.each(['disabled', 'not_allowed', 'misconfigured'] as const)(
    'a server that is %s takes no orders',
    (detail) => {
      expect(ordersFor({ state: 'error', detail })).toEqual([]);
    },
  );

  it('a quarantined server is reset first of all', () => {
    expect(ordersFor({ state: 'error', detail: 'quarantined' })[0]).toBe('reset');
  });

  it('the question before a stop says how many calls fail', () => {
    expect(consequenceOf('stop', serverOf('a', { in_flight: 2 }))).toContain('2 calls in flight fail');
    expect(consequenceOf('stop', serverOf('a'))).not.toContain('in flight');
  });

  it('the question says that other views are reached', () => {
    expect(consequenceOf('restart', serverOf('a', { other_view: true }))).toContain('views of other agents');
  });

  it('the report says what the server is after the order, not what was wanted', () => {
    const failed = serverOf('a', { state: 'error', detail: 'quarantined' });
    expect(reportOf('start', 'a', [failed])).toBe('Started a: it is quarantined.');
    expect(reportOf('stop', 'a', [serverOf('a', { detail: 'stopped' })])).toBe('Stopped a.');
    expect(reportOf('start', 'a', [serverOf('a')])).toBe('Started a: it is running, with 2 tools.');
  });
});
