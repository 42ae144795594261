import { expect, test } from 'vitest';
import { parse } from 'yaml';
import {
  addEntry,
  applyEdit,
  invertEdit,
  type ListKey,
  removeEntry,
  type TextEdit,
} from '../../../src/config/edit/index.js';

/**
 * A file in pieces, so that the test knows which text belongs to which item. A comment with `of x` is part of item x.
 */
interface Sample {
  key: ListKey;
  head: string;
  items: { name: string; source: string }[];
  /** The text between the items; the first piece is above the first item, the last below the last. */
  between: string[];
  tail: string;
}

const AGENT_BLOCK: Sample = {
  key: 'tools',
  head: `# §1 The research agent.
# §2 Keep in sync with the wiki.
name: researcher   # §3 shown in the UI
model:
  provider: 'openai' # §4 single quotes on purpose
  temperature: 0.30

# §5 Everything below is read by toolherd.
`,
  items: [
    {
      name: 'filesystem',
      source: `  - name: filesystem # §6 of filesystem
    type: mcp
    # §7 of filesystem
    command: npx
    args: ["-y", '@modelcontextprotocol/server-filesystem', "\${HOME}/a # no comment"]
    config:
      allowed_directories:
        - /data   # §8 of filesystem
        # §9 of filesystem
        - "/with space"
    # §10 of filesystem: the last line
`,
    },
    { name: 'search', source: "  - {name: search, type: function, 'file': ./search.py} # §11 of search\n" },
    {
      name: 'prompted',
      source: `  - name: prompted
    type: prompt

    # §12 of prompted
    template: |
      # no comment, this is text
      - neither is this an item

      \${INPUT}
`,
    },
    {
      name: 'github',
      source: `  -   name: "github"
      type: mcp
      env:
        GITHUB_TOKEN: \${GITHUB_TOKEN}   # §13 of github
        EMPTY: ''
      description: >-
        folded over
        two lines
`,
    },
  ],
  between: [
    '  # §14 first\n',
    '\n',
    '\n  # §15 above prompted\n',
    '  # §16 above github\n\n',
    '  # - name: §17 disabled\n',
  ],
  tail: `
# §18 not toolherd's
response_format: {type: json, strict: yes}   # §19
evaluations:
- name: §20 a value
  # §21
- name: b
...
# §22 after the end
`,
};

const CONFIG_FLUSH: Sample = {
  key: 'mcp_servers',
  head: '\uFEFF# §1 global\nversion: 1.0 # §2 a number\n\ndaemon: # §3\n    log_level: "debug"\n',
  items: [
    { name: 'time', source: '- name: time\n  command: uvx\n  # §4 of time\n' },
    {
      name: 'memory',
      source: "- name: 'memory'\n  env:\n      A: &shared '1'   # §5 of memory\n  # §6 of memory\n",
    },
    {
      name: 'remote',
      source: '-\n  # §7 of remote\n  name: remote\n  url: "https://x.test/?a=b#c" # §8 of remote\n',
    },
  ],
  between: ['', '# §9 above memory\n', '', ''],
  tail: '# §10 about security\nsecurity:\n    pin: warn # §11',
};

const AGENT_FLOW: Sample = {
  key: 'tools',
  head: '# §1\nname: x\n',
  items: [
    { name: 'a', source: '  {name: a, args: ["-y", b]}, # §2 of a\n' },
    { name: 'b', source: '  {\n    name: b, # §3 of b\n    type: mcp\n  }, # §4 of b\n' },
    { name: 'c', source: '  { "name": "c" },\n' },
  ],
  between: ['  # §5 first\n', '  # §6 above b\n', '\n', '  # §7 last\n'],
  tail: '] # §8\nother: [1, 2] # §9\n',
};

const CONFIG_LINE: Sample = {
  key: 'mcp_servers',
  head: '# §1\nversion: "1.0"\n',
  items: [
    { name: 'a', source: '{name: a}, ' },
    { name: 'b', source: '{name: b, url: "x, y"}, ' },
    { name: 'c', source: '{name: c}' },
  ],
  between: ['', '', '', '] # §2\n'],
  tail: '# §3\nsecurity: {}\n',
};

/** Numerical Recipes' generator: the same edits on every run. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const STRINGS = [
  'plain',
  '${TOKEN}',
  '# hash',
  'a: b',
  'yes',
  '1.0',
  '',
  'two\nlines',
  '- dash',
  '{x}',
  'é 😀',
  "it's",
];

function randomEntry(random: (below: number) => number, name: string): Record<string, unknown> {
  const text = () => STRINGS[random(STRINGS.length)] ?? '';
  const entry: Record<string, unknown> = { name, type: 'mcp' };
  if (random(2) === 0) entry.args = Array.from({ length: random(3) }, text);
  if (random(2) === 0) entry.env = { A: text(), [`K_${random(9)}`]: text() };
  if (random(3) === 0) entry.stop = { close: random(10), nested: [{ deep: [text()] }, []] };
  return entry;
}

const commentsOf = (text: string) => text.match(/#[^#\n]*§\d+[^\r\n]*/g) ?? [];

test.each([
  ['block', AGENT_BLOCK, '\n', 'tools:\n'],
  ['flush block, CRLF', CONFIG_FLUSH, '\r\n', 'mcp_servers: # §0\n'],
  ['flow over lines, CRLF', AGENT_FLOW, '\r\n', 'tools: [ # §0\n'],
  ['flow on a line', CONFIG_LINE, '\n', 'mcp_servers: ['],
] as const)(
  '200 random edits keep every comment and untouched byte range of a file, and undo to the original: %s',
  (_, sample, lineBreak, keyLine) => {
    const withBreaks = (text: string) => text.replaceAll('\n', lineBreak);
    const pieces = sample.items.flatMap(({ source }, index) => [sample.between[index] ?? '', source]);
    const original = withBreaks(
      [sample.head, keyLine, ...pieces, sample.between.at(-1), sample.tail].join(''),
    );
    const random = randomFrom(1);
    const { [sample.key]: list, ...others } = parse(original);
    const model: { name: string; value: unknown; source?: string }[] = sample.items.map((item, index) => ({
      name: item.name,
      value: list[index],
      source: withBreaks(item.source).replace(/[, ]+$/, ''),
    }));
    let comments: string[] = commentsOf(original);
    expect(comments.length).toBeGreaterThan(2);

    let text = original;
    const undo: TextEdit[] = [];
    let emptied = 0;
    for (let step = 0; step < 200; step += 1) {
      const removing = model.length > 0 && random(12) < model.length + (step > 100 && step < 130 ? 12 : 0);
      let edit: TextEdit;
      if (removing) {
        const index = random(model.length);
        edit = removeEntry(text, sample.key, index);
        const [removed] = model.splice(index, 1);
        comments = comments.filter((comment) => !comment.includes(` of ${removed?.name}`));
      } else {
        const entry = randomEntry(random, `added-${step}`);
        edit = addEntry(text, sample.key, entry);
        model.push({ name: `added-${step}`, value: entry });
      }
      const after = applyEdit(text, edit);
      undo.push(invertEdit(text, edit));
      expect(after.slice(0, edit.start)).toBe(text.slice(0, edit.start));
      expect(after.slice(edit.start + edit.insert.length)).toBe(text.slice(edit.end));
      text = after;

      const { [sample.key]: nowList, ...nowOthers } = parse(text);
      expect(nowList).toEqual(model.map(({ value }) => value));
      expect(nowOthers).toEqual(others);
      expect(commentsOf(text)).toEqual(comments);
      expect(text.startsWith(withBreaks(sample.head))).toBe(true);
      expect(text.endsWith(withBreaks(sample.tail))).toBe(true);
      for (const { source } of model)
        expect(source === undefined || text.includes(source), source).toBe(true);
      if (lineBreak === '\r\n') expect(text).not.toMatch(/[^\r]\n/);
      if (model.length === 0) emptied += 1;
    }
    expect(emptied).toBeGreaterThan(0);
    for (const edit of undo.reverse()) text = applyEdit(text, edit);
    expect(text).toBe(original);
  },
);
