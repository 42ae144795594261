import { describe, expect, it } from 'vitest';
import { applyEdit, setEnabled } from '../../../src/config/edit/index.js';

const set = (text: string, indexes: number[], enabled: boolean) =>
  applyEdit(text, setEnabled(text, 'tools', indexes, enabled));

describe('setting enabled of an entry', () => {
  it.each([
    [
      'a block, below the name',
      'tools:\n  - name: a # mine\n    command: npx\n# end\n',
      'tools:\n  - name: a # mine\n    enabled: false\n    command: npx\n# end\n',
    ],
    [
      'a name that is not the first field',
      'tools:\n- type: mcp\n  name: a\n',
      'tools:\n- type: mcp\n  name: a\n  enabled: false\n',
    ],
    ['no line break at the end', 'tools:\n- name: a', 'tools:\n- name: a\n  enabled: false'],
    ['line breaks of Windows', 'tools:\r\n- name: a\r\n', 'tools:\r\n- name: a\r\n  enabled: false\r\n'],
    ['braces', 'tools: [{name: a}] # x\n', 'tools: [{name: a, enabled: false}] # x\n'],
    ['JSON', '{"tools": [{"name": "a"}]}\n', '{"tools": [{"name": "a", "enabled": false}]}\n'],
    [
      'a value that is there, with its comment',
      'tools:\n- name: a\n  enabled:  true # since May\n  command: npx\n',
      'tools:\n- name: a\n  enabled:  false # since May\n  command: npx\n',
    ],
  ])('%s: everything else stays unchanged', (_, text, after) => {
    expect(set(text, [0], false)).toBe(after);
    expect(set(after, [0], true)).toBe(after.replace('false', 'true'));
  });

  it('several entries change in one edit, an entry that is named twice once', () => {
    expect(set('tools:\n- name: a\n- name: b\n- name: c\n', [2, 0, 2], false)).toBe(
      'tools:\n- name: a\n  enabled: false\n- name: b\n- name: c\n  enabled: false\n',
    );
  });

  it.each([
    ['an entry that another one repeats', 'tools:\n- &a {name: a}\n- *a\n'],
    ['an entry that another one merges', 'tools:\n- &a\n  name: a\n- <<: *a\n  name: b\n'],
    ['an alias', 'x: &a {name: a}\ntools: [*a]\n'],
    ['a value that others repeat', 'tools:\n- {name: a, enabled: &a true}\n- {name: b, enabled: *a}\n'],
  ])('%s is refused, since the edit would change more than this entry', (_, text) => {
    expect(() => set(text, [0], false)).toThrow(/by hand/);
  });
});
