import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type NameForm, SEPARATORS } from '../../../src/shared/mcp/separators.js';
import { publicNames, toPublicName } from '../../../src/supervisor/catalog/public-names.js';

describe('the public name of a tool', () => {
  test('is server__tool', () => {
    expect(toPublicName('github', 'create_issue')).toBe('github__create_issue');
  });

  test('FR-015: keeps letters, digits, _ and -; every other character becomes -', () => {
    expect(toPublicName('my server', 'a/b:c')).toBe('my-server__a-b-c');
    expect(toPublicName('A.b-C_9', 'x.y')).toBe('A-b-C_9__x-y');
    expect(toPublicName('ä', '\n"\u0000')).toBe('-__---');
  });

  test('has 64 characters at most; a hash keeps long names distinct', () => {
    const tool = 'x'.repeat(59);
    expect(toPublicName('abc', tool)).toBe(`abc__${tool}`);
    const long = toPublicName('abcd', tool);
    expect(long).toHaveLength(64);
    expect(long).toMatch(/^abcd__x{49}-[0-9a-f]{8}$/);
    expect(toPublicName('abcd', `${tool}1`)).not.toBe(toPublicName('abcd', `${tool}2`));
  });

  test('is the same on every start', () => {
    expect(toPublicName('a'.repeat(60), 'tool')).toBe(`${'a'.repeat(55)}-5312e995`);
    expect(
      publicNames([
        { server: 'a', name: 'b__c' },
        { server: 'a__b', name: 'c' },
      ]),
    ).toEqual(['a__b__c-01b8a75b', 'a__b__c-a92700ce']);
  });

  test('has a hash for each tool of a collision, in any order of the list; other names stay', () => {
    const tools = [
      { server: 'a b', name: 'x' },
      { server: 'a-b', name: 'x' },
      { server: 'c', name: 'x' },
    ];
    const names = publicNames(tools);
    expect(names.slice(0, 2)).toEqual([
      expect.stringMatching(/^a-b__x-[0-9a-f]{8}$/),
      expect.stringMatching(/^a-b__x-/),
    ]);
    expect(names[2]).toBe('c__x');
    expect(publicNames([...tools].reverse())).toEqual([...names].reverse());
  });

  test('has 64 characters at most, also for long names that collide', () => {
    const name = 'y'.repeat(59);
    const names = publicNames([
      { server: 'a b', name },
      { server: 'a-b', name },
    ]);
    expect(new Set(names).size).toBe(2);
    for (const one of names) expect(one).toHaveLength(64);
  });

  test('is not given to another tool whose own name looks like that name with its hash', () => {
    const tools = [
      { server: 'a', name: 'b__c' },
      { server: 'a__b', name: 'c' },
    ];
    const [, hashed] = publicNames(tools);
    const names = publicNames([...tools, { server: 'a', name: hashed!.slice('a__'.length) }]);
    expect(names[1]).toBe(hashed);
    expect(new Set(names).size).toBe(3);
  });

  test('has the chosen separator, and __ only where that is the separator', () => {
    expect(SEPARATORS.map((form) => toPublicName('my.git', 'a__b', form))).toEqual([
      'my-git__a__b',
      'my-git_a_b',
      'my-git-a_b',
      'my-git.a_b',
    ]);
    expect(toPublicName('git_', '_push', '_')).toBe('git_push');
  });

  test('has a hash with a separator of one character when another server could have it', () => {
    const servers = ['git', 'git_hub', 'git-hub'];
    const nameOf = (server: string, name: string, form: NameForm) =>
      publicNames([{ server, name }], servers, form)[0];
    expect(nameOf('git', 'hub_push', '_')).toMatch(/^git_hub_push-[0-9a-f]{8}$/);
    expect(nameOf('git', 'hub-push', '-')).toMatch(/^git-hub-push-[0-9a-f]{8}$/);
    expect(nameOf('git', 'push', '_')).toBe('git_push');
    expect(nameOf('git_hub', 'push', '_')).toBe('git_hub_push');
  });

  test.each(SEPARATORS)('names with %s are distinct and have at most 64 safe characters', (form) => {
    const word = fc.string({
      unit: fc.constantFrom('a', '_', '-', ' ', '.', '/', 'é', '😀'),
      minLength: 1,
      maxLength: 40,
    });
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.record({ server: word, name: word }), { selector: JSON.stringify, maxLength: 20 }),
        (tools) => {
          const servers = tools.map(({ server }) => server);
          const names = publicNames(tools, servers, form);
          expect(new Set(names).size).toBe(tools.length);
          for (const name of names) {
            expect(name).toMatch(form === '.' ? /^[A-Za-z0-9_.-]{1,64}$/ : /^[A-Za-z0-9_-]{1,64}$/);
            if (form !== '__') expect(name).not.toContain('__');
          }
        },
      ),
      { seed: 20261116, numRuns: 300 },
    );
  });

  test('has a hash when a tool of another configured server could have it, also before that server is known', () => {
    const servers = ['git', 'git__hub', 'git_', 'a b', 'a-b', 'x'.repeat(60)];
    const nameOf = (server: string, name: string) => publicNames([{ server, name }], servers)[0];
    expect(nameOf('git', 'hub__push')).toMatch(/^git__hub__push-[0-9a-f]{8}$/);
    expect(nameOf('git', '_push')).toMatch(/^git___push-[0-9a-f]{8}$/);
    expect(nameOf('a b', 'c')).toMatch(/^a-b__c-[0-9a-f]{8}$/);
    expect(nameOf('a-b', 'c')).not.toBe(nameOf('a b', 'c'));
    expect(nameOf('git__hub', 'push')).toBe('git__hub__push');
    expect(nameOf('git', 'push')).toBe('git__push');
  });
});
