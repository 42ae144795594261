import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.js';
import { FIELDS } from '../../src/config/schema/fields.js';
import { SETTINGS } from '../../src/config/schema/settings.js';
import { ERROR_CODES } from '../../src/ipc/jsonrpc/error-codes.js';
import { METHODS } from '../../src/ipc/server/fleet-methods.js';
import { mermaid } from '../../src/machines/chart.js';
import { keeperMachine } from '../../src/machines/keeper.js';
import { serverMachine } from '../../src/machines/server.js';
import { transientMachine } from '../../src/machines/transient.js';
import { expectRegion, hasDoc, readDoc as read, markdownTable as table } from '../support/docs.js';

const fence = (text: string) => `\`\`\`mermaid\n${text}\n\`\`\``;

const REGIONS: Record<string, { file: string; text(): string }> = {
  statechart: { file: 'README.md', text: () => fence(mermaid(serverMachine)) },
  'server chart': { file: 'docs/ARCHITECTURE.md', text: () => fence(mermaid(serverMachine)) },
  'keeper chart': { file: 'docs/ARCHITECTURE.md', text: () => fence(mermaid(keeperMachine)) },
  'transient chart': { file: 'docs/ARCHITECTURE.md', text: () => fence(mermaid(transientMachine)) },
  fields: {
    file: 'docs/CONFIG.md',
    text: () =>
      table([
        ['field', 'for', 'what it is'],
        ['---', '---', '---'],
        ...Object.entries(FIELDS).map(([name, field]) => [
          `\`${name}\``,
          field.for.length === 4 ? 'all' : field.for.join(' '),
          field.about,
        ]),
      ]),
  },
  settings: {
    file: 'docs/CONFIG.md',
    text: () =>
      table([
        ['setting', 'what it is'],
        ['---', '---'],
        ...Object.entries(SETTINGS).flatMap(([section, keys]) =>
          Object.entries(keys).map(([key, { about }]) => [`\`${section}.${key}\``, about]),
        ),
      ]),
  },
  codes: {
    file: 'docs/PROTOCOL.md',
    text: () =>
      table([
        ['code', 'type'],
        ['---', '---'],
        ...Object.entries(ERROR_CODES).map(([type, code]) => [String(code), `\`${type}\``]),
      ]),
  },
};

describe('the docs', () => {
  it.each(Object.entries(REGIONS))(
    'the region "%s" is what the code says (npm run docs)',
    (name, { file, text }) => expectRegion(file, name, text()),
  );

  it('every test that SECURITY.md names is there, and every promise names one', () => {
    const text = read('docs/SECURITY.md');
    const named = [...new Set(text.match(/\btest\/[\w./-]+/g))];
    expect(named.filter((path) => !/\.test\.ts$/.test(path) || !hasDoc(path))).toEqual([]);
    const promises =
      text
        .split('## What holds')[1]
        ?.split('\n## ')[0]
        ?.match(/^\| (?!promise).*\|$/gm) ?? [];
    expect(promises.length).toBeGreaterThan(20);
    expect(promises.filter((line) => !line.includes('.test.ts'))).toEqual([]);
  });

  it('every method of the socket is described, with an example that is JSON', () => {
    const sections = [
      ...read('docs/PROTOCOL.md').matchAll(/^### (fleet\/\w+)\n[\s\S]*?```json\n([\s\S]*?)\n```/gm),
    ];
    expect(sections.map(([, method]) => method).sort()).toEqual(Object.keys(METHODS).sort());
    for (const [, , example = ''] of sections) expect(() => JSON.parse(example)).not.toThrow();
  });

  it('every link in the README leads somewhere', () => {
    const links = [...read('README.md').matchAll(/\]\((?!http)([^)#]+)\)/g)].map(([, link = '']) => link);
    expect(links.length).toBeGreaterThan(3);
    for (const link of links) expect(() => read(link)).not.toThrow();
  });

  it('every verb is in the changelog', () => {
    const text = read('CHANGELOG.md');
    expect(Object.keys(COMMANDS).filter((verb) => !text.includes(verb))).toEqual([]);
  });
});
