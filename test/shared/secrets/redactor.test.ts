import { describe, expect, test } from 'vitest';
import { Redactor } from '../../../src/shared/secrets/redactor.js';

const SECRET = 'p4ss/wörd+<&"\' 0123456789';
const redactor = Redactor.of({ KEY: SECRET, TOKEN: 'sk-ABCDEF0123456789abcdef' });
const base64 = (text: string) => Buffer.from(text).toString('base64');
const ascii = (text: string) =>
  text.replaceAll(/[\u0080-\uffff]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
const json = JSON.stringify(SECRET);

describe('a secret is found', () => {
  test.each([
    ['as it is', SECRET],
    ['in JSON', json],
    ['in JSON of PHP', ascii(json.replaceAll('/', '\\/'))],
    ['in JSON of Python', ascii(json)],
    ['in JSON of Go', json.replaceAll('<', '\\u003c').replaceAll('&', '\\u0026')],
    ['in JSON in JSON', JSON.stringify(json)],
    ['in a url', encodeURIComponent(SECRET)],
    [
      'in a url with lower-case codes',
      encodeURIComponent(SECRET).replaceAll(/%../g, (code) => code.toLowerCase()),
    ],
    ['in a form', new URLSearchParams({ a: SECRET }).toString()],
    ['in hex', Buffer.from(SECRET).toString('hex')],
    ['in upper-case hex', Buffer.from(SECRET).toString('hex').toUpperCase()],
    ['in HTML', SECRET.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')],
    [
      'in HTML with numbers',
      '&#34;'.concat(
        SECRET.replaceAll('&', '&amp;')
          .replaceAll('<', '&lt;')
          .replaceAll('"', '&#34;')
          .replaceAll("'", '&#39;'),
      ),
    ],
  ])('%s', (_, text) => {
    expect(redactor.redact(`before ${text} after`)).toMatch(/^before \S*\[redacted:KEY\]\S* after$/);
  });

  test.each(['', 'a:', 'ab:', 'abc:', 'user:'])('a secret is hidden in its base64 after %j', (before) => {
    for (const after of ['', '\n', ', and more']) {
      for (const secret of [SECRET, 'sk-ABCDEF0123456789abcdef']) {
        const text = base64(before + secret + after);
        expect(redactor.redact(`Basic ${text}`)).toMatch(/^Basic \S{0,8}\[redacted:(KEY|TOKEN)\]\S{0,16}$/);
        const url = Buffer.from(before + secret + after).toString('base64url');
        expect(redactor.redact(url)).toMatch(/\[redacted:(KEY|TOKEN)\]/);
      }
    }
  });
});

test('overlapping secrets are hidden whole, and the longest at a place counts', () => {
  const both = Redactor.of({ A: 'abcdefgh', B: 'efghijkl', C: 'abcdefghXYZ' });
  expect(both.redact('-abcdefghijkl-abcdefghXYZ-abcdef-')).toBe('-[redacted:A]-[redacted:C]-abcdef-');
});

test('short values and variables of the machine stay, and learnt ones go', () => {
  const own = Redactor.of({ SHORT: 'abcde', HOME: '/home/user' });
  expect(own.redact('abcde /home/user')).toBe('abcde /home/user');
  expect(own.redact(SECRET)).toBe(SECRET);
  own.learn(redactor);
  expect(own.redactDeep({ [SECRET]: [SECRET, 1] })).toEqual({ '[redacted:KEY]': ['[redacted:KEY]', 1] });
});

test('the cost of a line does not grow with the number of secrets', () => {
  const redactorOf = (count: number) =>
    Redactor.of(
      Object.fromEntries(
        Array.from({ length: count }, (_, index) => [`NAME_${index}`, `value-of-a-secret-${index}`]),
      ),
    );
  const [few, many] = [redactorOf(200), redactorOf(20_000)];
  expect(many.redact('value-of-a-secret-19999.')).toBe('[redacted:NAME_19999].');
  const line = 'a line of a log with value-of-a-secret-123456 in it, and some more words '.repeat(2);
  const costOf = (redactor: Redactor) => {
    const begun = performance.now();
    for (let count = 0; count < 200; count += 1) redactor.redact(line);
    return performance.now() - begun;
  };
  const costs = Array.from({ length: 10 }, () => [costOf(few), costOf(many)] as const);
  const [least, most] = [0, 1].map((which) => Math.min(...costs.map((pair) => pair[which]!)));
  // one search a secret would take a hundred times as long
  expect(most! / least!).toBeLessThan(20);
});

test('data that is nested deeper than a stack is redacted as far as it is shown', () => {
  let data: unknown = 'secret-value';
  for (let at = 0; at < 20_000; at += 1) data = { data };
  const redactor = Redactor.of({ KEY: 'secret-value' });
  const text = JSON.stringify(redactor.redactDeep(data));
  expect(text).toContain('nested too deep');
  expect(text).not.toContain('secret-value');
  expect(redactor.redactDeep([['secret-value']])).toEqual([['[redacted:KEY]']]);
});
