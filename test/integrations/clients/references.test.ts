import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expand } from '../../../src/config/variables/variables.js';
import {
  bareReferences,
  bracedReferences,
  editorReferences,
  noReferences,
  type References,
  shellReferences,
} from '../../../src/integrations/clients/references.js';

function translated(references: References, source: string): { text: string; remarks: string[] } {
  const remarks: string[] = [];
  const context = {
    workspace: '/project',
    basename: 'project',
    remark: (text: string) => remarks.push(text),
  };
  return { text: references(source, context), remarks };
}

const meaning = (text: string, values: Record<string, string> = {}) =>
  expand(text, { sources: [{ label: 'test', values }], workspaceFolder: '/w', userHome: '/h' });

describe('the variables of clients', () => {
  it.each([
    ['claude code', shellReferences, 'a ${X} ${Y:-d} $Z', 'a ${X} ${Y:-d} $Z'],
    ['claude code', shellReferences, '${CLAUDE_PROJECT_DIR}/x ${not a name}', '/project/x $${not a name}'],
    ['gemini', bareReferences, '$X-${Y}-${Z:-d}', '${X}-${Y}-${Z:-d}'],
    [
      'vscode',
      editorReferences,
      '${env:X} ${userHome}/a ${workspaceFolder}/b',
      '${X} ${userHome}/a /project/b',
    ],
    ['vscode', editorReferences, '${workspaceFolderBasename}${/}${pathSeparator}', 'project//'],
    ['vscode', editorReferences, '${env:lower} ${env:http_proxy}', '${lower} ${http_proxy}'],
    ['opencode', bracedReferences, '{env:lower}', '${lower}'],
    ['opencode', bracedReferences, 'Bearer {env:X} ${Y}', 'Bearer ${X} $${Y}'],
    ['claude desktop', noReferences, '${X} $Y $$', '$${X} $Y $$$$'],
  ])('%s: %# its references become ours', (_, references, source, ours) => {
    expect(translated(references, source)).toEqual({ text: ours, remarks: [] });
  });

  it('a reference to an input or a file becomes a variable, with a remark', () => {
    expect(translated(editorReferences, '${input:api-key}')).toEqual({
      text: '${API_KEY}',
      remarks: ['${input:api-key} is the variable API_KEY here'],
    });
    expect(translated(bracedReferences, '{file:~/.secrets/token}')).toEqual({
      text: '${TOKEN}',
      remarks: ['{file:~/.secrets/token} is the variable TOKEN here'],
    });
  });

  it('a text without variables keeps its meaning, with any dollar signs', () => {
    const odd = fc.string({ unit: fc.constantFrom('$', '{', '}', 'a', ':', '-', 'X') });
    fc.assert(
      fc.property(odd, (source) => {
        expect(meaning(translated(noReferences, source).text)).toEqual({
          text: source,
          uses: [],
          malformed: [],
        });
      }),
    );
  });

  it('a dollar sign before a variable stays literal', () => {
    const { text } = translated(editorReferences, 'cost: $${env:PRICE}');
    expect(meaning(text, { PRICE: '5' }).text).toBe('cost: $5');
  });
});
