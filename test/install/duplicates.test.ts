import { expect, test } from 'vitest';
import { duplicateOf, shortNameWarning } from '../../src/install/duplicates.js';

const alice = { name: 'filesystem', registryName: 'io.github.alice/filesystem' };
const bob = { name: 'filesystem', registryName: 'io.github.bob/filesystem' };
const manual = { name: 'filesystem' };
const other = { name: 'other', registryName: 'io.github.alice/other' };

test('rule 1: the same registry name is a duplicate, under any short name', () => {
  expect(duplicateOf([other, alice], alice)).toEqual({
    kind: 'duplicate',
    by: 'registry_name',
    existing: alice,
  });
  const renamed = { ...alice, name: 'files' };
  expect(duplicateOf([renamed], alice)).toEqual({
    kind: 'duplicate',
    by: 'registry_name',
    existing: renamed,
  });
});

test('rule 1: a short name of another registry server is taken', () => {
  expect(duplicateOf([other, alice], bob)).toEqual({ kind: 'name-taken', existing: alice });
  expect(duplicateOf([alice], { ...bob, name: 'files' })).toEqual({ kind: 'free' });
});

test('rule 2: two manual entries with one name are duplicates', () => {
  expect(duplicateOf([other, manual], { name: 'filesystem' })).toEqual({
    kind: 'duplicate',
    by: 'name',
    existing: manual,
  });
});

test('rule 3: between registry and manual the manual one wins', () => {
  expect(duplicateOf([manual], alice)).toEqual({ kind: 'manual-wins', manual: 'existing', existing: manual });
  expect(duplicateOf([alice], manual)).toEqual({ kind: 'manual-wins', manual: 'candidate', existing: alice });
});

test('an empty registry name is a manual entry', () => {
  expect(
    duplicateOf([{ name: 'filesystem', registryName: '' }], { name: 'filesystem', registryName: '' }),
  ).toMatchObject({ kind: 'duplicate', by: 'name' });
});

test('entries without a name, or with another name, are no conflict', () => {
  expect(duplicateOf([], alice)).toEqual({ kind: 'free' });
  expect(duplicateOf([{}, { registryName: 'x/y' }, other], manual)).toEqual({ kind: 'free' });
});

test('the gravest of several conflicts counts, in any order', () => {
  for (const existing of [
    [manual, alice],
    [alice, manual],
  ]) {
    expect(duplicateOf(existing, bob)).toEqual({ kind: 'name-taken', existing: alice });
    expect(duplicateOf(existing, alice)).toEqual({ kind: 'duplicate', by: 'registry_name', existing: alice });
    expect(duplicateOf(existing, manual)).toEqual({ kind: 'duplicate', by: 'name', existing: manual });
  }
});

test('the exact text of the short name warning', () => {
  expect(shortNameWarning(bob, alice)).toBe(
    `⚠️  Warning: Server 'filesystem' (io.github.bob/filesystem) has the same
    short name as existing server (io.github.alice/filesystem).
    Consider using --name to specify a unique name.`,
  );
});
