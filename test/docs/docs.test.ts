import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLUSTER_FIELDS } from '../../src/config/fields/cluster.js';
import { defaultText } from '../../src/config/fields/defaults.js';
import { FIELD_GROUPS, FIELDS } from '../../src/config/fields/entry-fields.js';
import { HERD_FIELDS } from '../../src/config/fields/herd.js';
import { PROFILE_FIELDS } from '../../src/config/fields/profile.js';
import { SETTINGS } from '../../src/config/fields/settings.js';
import { ERROR_CODES } from '../../src/ipc/jsonrpc/rpc-error.js';
import { METHODS } from '../../src/ipc/server/fleet-methods.js';
import { mermaid } from '../../src/machines/chart.js';
import { keeperMachine } from '../../src/machines/keeper.js';
import { serverMachine } from '../../src/machines/server.js';
import { transientMachine } from '../../src/machines/transient.js';
import { loadGlobal } from '../config/support.js';
import { expectRegion, hasDoc, readDoc as read, markdownTable as table } from '../support/docs.js';
import { ROOT } from '../support/run.js';

/** The README and every page of docs. */
function pages(): string[] {
  const docs = join(ROOT, 'docs');
  const names = readdirSync(docs, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.md'),
  );
  return ['README.md', ...names.map((name) => join('docs', name))];
}

const fence = (text: string) => `\`\`\`mermaid\n${text}\n\`\`\``;

/** A title, and the table of the group's fields. */
function fieldsOfGroup([group, title]: [string, string]): string {
  const fields = Object.entries(FIELDS).filter(([, field]) => field.group === group);
  const rows = fields.map(([name, field]) => [
    `\`${name}\``,
    field.for.length === 4 ? 'all' : field.for.join(' '),
    defaultText(field.default),
    field.about,
  ]);
  return `**${title}**\n\n${table(['field', 'for', 'default', 'what it is'], rows)}`;
}

const REGIONS: Record<string, { file: string; text(): string }> = {
  'server chart': { file: 'docs/ARCHITECTURE.md', text: () => fence(mermaid(serverMachine)) },
  'keeper chart': { file: 'docs/ARCHITECTURE.md', text: () => fence(mermaid(keeperMachine)) },
  'transient chart': { file: 'docs/ARCHITECTURE.md', text: () => fence(mermaid(transientMachine)) },
  fields: {
    file: 'docs/CONFIG.md',
    text: () => Object.entries(FIELD_GROUPS).map(fieldsOfGroup).join('\n\n'),
  },
  settings: {
    file: 'docs/CONFIG.md',
    text: () =>
      table(
        ['setting', 'default', 'what it is'],
        Object.entries(SETTINGS).flatMap(([section, keys]) =>
          Object.entries(keys).map(([key, setting]) => [
            `\`${section}.${key}\``,
            defaultText(setting.default),
            setting.about,
          ]),
        ),
      ),
  },
  'profile fields': {
    file: 'docs/CONFIG.md',
    text: () =>
      table(
        ['key', 'default', 'what it is'],
        Object.entries(PROFILE_FIELDS).map(([key, field]) => [
          `\`${key}\``,
          defaultText(field.default),
          field.about,
        ]),
      ),
  },
  'herd fields': {
    file: 'docs/CONFIG.md',
    text: () =>
      table(
        ['key', 'default', 'what it is'],
        Object.entries(HERD_FIELDS).map(([key, field]) => [
          `\`${key}\``,
          defaultText(field.default),
          field.about,
        ]),
      ),
  },
  'cluster fields': {
    file: 'docs/CONFIG.md',
    text: () =>
      table(
        ['key', 'default', 'what it is'],
        Object.entries(CLUSTER_FIELDS).map(([key, field]) => [
          `\`${key}\``,
          defaultText(field.default),
          field.about,
        ]),
      ),
  },
  codes: {
    file: 'docs/PROTOCOL.md',
    text: () =>
      table(
        ['code', 'type'],
        Object.entries(ERROR_CODES).map(([type, code]) => [String(code), `\`${type}\``]),
      ),
  },
};

describe('the docs', () => {
  it.each(Object.entries(REGIONS))(
    'the region "%s" is rendered from the code (npm run docs)',
    (name, { file, text }) => expectRegion(file, name, text()),
  );

  it('every test that SECURITY.md names exists, and every protection names one', () => {
    const text = read('docs/SECURITY.md');
    const named = [...new Set(text.match(/\btest\/[\w./-]+/g))];
    expect(named.filter((path) => !/\.test\.ts$/.test(path) || !hasDoc(path))).toEqual([]);
    const protections =
      text
        .split('## Protections')[1]
        ?.split('\n## ')[0]
        ?.match(/^\| (?!attack).*\|$/gm) ?? [];
    expect(protections.length).toBeGreaterThan(20);
    expect(protections.filter((line) => !line.includes('.test.ts'))).toEqual([]);
  });

  it('the entries on top of CONFIG.md are a config without a mistake or a warning', async () => {
    const [, yaml = ''] = /```yaml\n(.*?)```/s.exec(read('docs/CONFIG.md')) ?? [];
    const env = { GITHUB_TOKEN: 'a', DOCS_TOKEN: 'b' };
    const { servers, warnings } = await loadGlobal(yaml, { env });
    expect(servers.map(({ name, transport }) => [name, transport])).toEqual([
      ['github', 'stdio'],
      ['docs', 'http'],
    ]);
    expect(warnings).toEqual([]);
  });

  it('the profile of PROFILES.md is a config without a mistake or a warning', async () => {
    const [, yaml = ''] = /```yaml\n(.*?)```/s.exec(read('docs/PROFILES.md')) ?? [];
    const { profiles, warnings } = await loadGlobal(yaml);
    expect(profiles.get('review')).toMatchObject({
      rename: { 'git.git_log': 'history' },
      defaults: { 'github.search_issues': { owner: 'acme', repo: 'shop' } },
    });
    expect(warnings).toEqual([]);
  });

  it('every method of the socket is described, with an example that is JSON', () => {
    const sections = [
      ...read('docs/PROTOCOL.md').matchAll(/^### (fleet\/\w+)\n[\s\S]*?```json\n([\s\S]*?)\n```/gm),
    ];
    expect(sections.map(([, method]) => method).sort()).toEqual(Object.keys(METHODS).sort());
    for (const [, , example = ''] of sections) expect(() => JSON.parse(example)).not.toThrow();
  });

  it('the table of methods links each method of the socket once, in the order of their sections', () => {
    const page = read('docs/PROTOCOL.md');
    const sections = [...page.matchAll(/^### (fleet\/\w+)$/gm)].map(([, method = '']) => method);
    const links = sections.map((method) => `[${method}](#${method.replace('/', '')})`);
    const rows = [...page.matchAll(/^\| (\[fleet\/\S+) \| [^|]+ \|$/gm)].map(([, link]) => link);
    expect(rows).toEqual(links);
  });

  it('every link in the README and the docs leads somewhere', () => {
    const broken = pages().flatMap((page) => {
      const links = [...read(page).matchAll(/\]\((?!http)([^)#]+)(?:#[^)]*)?\)/g)].map(
        ([, link = '']) => link,
      );
      return links.filter((link) => !hasDoc(join(dirname(page), link))).map((link) => `${page}: ${link}`);
    });
    expect(broken).toEqual([]);
  });

  it.each(['docs/ARCHITECTURE.md', 'docs/PERFORMANCE.md'])(
    'every file of src that %s names is there',
    (page) => {
      const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
      const known = new Set([
        ...files,
        ...files.map((file) => basename(file)),
        ...files.map((file) => `src/${file}`),
      ]);
      const named = [...read(page).matchAll(/`([\w./-]+(?:\.ts|\/))`/g)].map(([, name = '']) => name);
      expect(named.length).toBeGreaterThan(20);
      const gone = named.filter((name) => !known.has(name.replace(/\/$/, '')) && !hasDoc(name));
      expect(gone).toEqual([]);
    },
  );

  it('the README links to the pages', () => {
    expect(read('README.md').match(/\]\(docs\//g)?.length).toBeGreaterThan(3);
  });

  it('npm run docs runs every test that writes a document', () => {
    const test = join(ROOT, 'test');
    const writers = readdirSync(test, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts'))
      .filter((name) => /\bexpect(?:Doc|Region)\(/.test(readFileSync(join(test, name), 'utf8')))
      .map((name) => `test/${name}`);
    const run = (JSON.parse(read('package.json')).scripts.docs as string).match(/\btest\/\S+/g) ?? [];
    expect(writers.filter((file) => !run.some((path) => file.startsWith(path)))).toEqual([]);
  });
});
