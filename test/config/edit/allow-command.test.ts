import { describe, expect, it } from 'vitest';
import { allowCommand } from '../../../src/config/edit/index.js';

describe('adding a command to security.allowed_commands', () => {
  it.each([
    ['an empty file', '', 'version: "1.0"\nsecurity:\n  allowed_commands: [node]\n'],
    ['no section', 'version: "1.0" # v\n', 'version: "1.0" # v\nsecurity:\n  allowed_commands: [node]\n'],
    ['no line break at the end', 'version: "1.0"', 'version: "1.0"\nsecurity:\n  allowed_commands: [node]'],
    [
      'no list',
      'security:\n    trust: ask # so\n',
      'security:\n    allowed_commands: [node]\n    trust: ask # so\n',
    ],
    ['no list in braces', 'security: {trust: ask}\n', 'security: {trust: ask, allowed_commands: [node]}\n'],
    [
      'brackets',
      'security:\n  allowed_commands: [a] # b\n',
      'security:\n  allowed_commands: [a, node] # b\n',
    ],
    ['empty brackets', 'security:\n  allowed_commands: []\n', 'security:\n  allowed_commands: [node]\n'],
    [
      'dashes',
      'security:\n  allowed_commands:\n    - a # b\n    # c\nversion: "1.0"\n',
      'security:\n  allowed_commands:\n    - a # b\n    # c\n    - node\nversion: "1.0"\n',
    ],
  ])('%s: everything else stays unchanged', (_, text, after) => {
    expect(allowCommand(text, 'node')).toBe(after);
  });

  it('an unsupported form is refused', () => {
    expect(() => allowCommand('security:\n', 'node')).toThrow(/by hand/);
    expect(() => allowCommand('security: &a {trust: ask}\nx: *a\n', 'node')).toThrow(/by hand/);
  });

  it('a command that YAML would read as another type is quoted', () => {
    expect(allowCommand('security: {allowed_commands: [a]}', 'C: x')).toBe(
      'security: {allowed_commands: [a, "C: x"]}',
    );
  });
});
