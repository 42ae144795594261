import { expect, it } from 'vitest';
import { seconds } from '../../../src/shared/text/seconds.js';

it('a duration is shown in whole milliseconds, also where a clock gives fractions of them', () => {
  expect([499.734619140625, 60_000, 0.2].map(seconds)).toEqual(['0.5 s', '60 s', '0 s']);
});
