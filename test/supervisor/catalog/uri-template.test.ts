import { expect, it } from 'vitest';
import { matchesTemplate } from '../../../src/supervisor/catalog/uri-template.js';

it.each([
  ['note://{name}', 'note://a', true],
  ['note://{name}', 'other://a', false],
  ['a://{x}/b/{y}.md', 'a://1/b/2.md', true],
  ['a://{x}/b/{y}.md', 'a://1/c/2.md', false],
  ['a://b{?q*}', 'a://b?q=1', true],
  ['a://fixed', 'a://fixed', true],
  ['a://fixed', 'a://fixed/more', false],
  ['aba{x}aba', 'aba', false],
])('the template %s and the URI %s: %s', (template, uri, matches) => {
  expect(matchesTemplate(template, uri)).toBe(matches);
});
