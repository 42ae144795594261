import { describe, expect, it } from 'vitest';
import { redactor } from '../../src/link/redact.js';

describe('redaction (X1)', () => {
  it('shows the name instead of the value, the longest first', () => {
    const redact = redactor({ KEY: 'sk-abc', LONG_KEY: 'sk-abcdef', REGEX: 'a.c*(x)' });
    expect(redact('sk-abc sk-abcdef a.c*(x) abbc')).toBe('[KEY] [LONG_KEY] [REGEX] abbc');
  });

  it('leaves words alone that occur by chance', () => {
    expect(redactor({ DEBUG: '1', MODE: 'dev' })('1 dev')).toBe('1 dev');
  });
});
