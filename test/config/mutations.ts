import { FIELDS } from '../../src/config/fields/entry-fields.js';

/** The same numbers for the same seed, so that a failure can be reproduced. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    // Neighbouring seeds must give different numbers.
    this.#state = Math.imul(seed ^ (seed << 13), 0x45d9f3b) >>> 0;
    for (let roll = 0; roll < 4; roll++) this.below(1);
  }

  below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * limit);
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }
}

const VALUES = [
  ...[
    '5',
    '-1',
    '0',
    '1.5',
    '1e400',
    '.inf',
    '.nan',
    '0x10',
    'true',
    'no',
    'null',
    '~',
    '""',
    '"  "',
    'x',
    "'y'",
  ],
  ...[
    '[]',
    '[a, 1]',
    '{}',
    '{a: b}',
    '{type: http}',
    '[{}]',
    '"${SET}"',
    '"${UNSET}"',
    '"${UNSET:-d}"',
    '"${"',
    '$$',
  ],
  ...[
    'npx',
    'bash',
    'stdio',
    'sse',
    'http',
    'websocket',
    'mcp',
    'https://a.b',
    'http://a.b',
    'ws://localhost',
    '"1.0"',
  ],
  ...[
    '.env',
    '../x',
    '/etc/passwd',
    'p',
    '&a x',
    '*a',
    '!!int 5',
    '!x y',
    '|',
    '>',
    '"\\x9b"',
    '"\\0"',
    '2026-11-16',
  ],
];

const KEYS = [
  ...Object.keys(FIELDS),
  ...[
    '__proto__',
    'constructor',
    'toString',
    'source_type',
    'mcp_plugin_dir',
    'mcp_server_url',
    'mcp_env_vars',
  ],
  ...[
    'tools',
    'mcp_servers',
    'daemon',
    'security',
    'version',
    '<<',
    'min',
    'close',
    'interval',
    'allow',
    'zebra',
    '""',
  ],
];

const BYTES = [
  ...'[]{}:,#&*!|>%@`"\'\\ \t\n\r-?~$',
  '\0',
  '\u2028',
  '\uFEFF',
  'é',
  '€',
  '\x85',
  '\x9b',
  '---\n',
  '...\n',
];

type Mutation = (text: string, dice: Dice, others: readonly string[]) => string;

const byLines =
  (change: (lines: string[], at: number, dice: Dice) => void): Mutation =>
  (text, dice) => {
    const lines = text.split('\n');
    change(lines, dice.below(lines.length), dice);
    return lines.join('\n');
  };

const MUTATIONS: Mutation[] = [
  byLines((lines, at) => void lines.splice(at, 1)),
  byLines((lines, at) => void lines.splice(at, 0, lines[at]!)),
  byLines((lines, at, dice) => {
    const other = dice.below(lines.length);
    [lines[at], lines[other]] = [lines[other]!, lines[at]!];
  }),
  byLines((lines, at, dice) => {
    lines[at] = lines[at]!.replace(/: .*$/, () => `: ${dice.pick(VALUES)}`);
  }),
  byLines((lines, at, dice) => {
    lines[at] = lines[at]!.replace(/[\w-]+(?=:( |$))/, () => dice.pick(KEYS));
  }),
  byLines((lines, at, dice) => {
    const indent = /^ */.exec(lines[at]!)![0];
    lines.splice(at, 0, `${indent}${dice.pick(KEYS)}: ${dice.pick(VALUES)}`);
  }),
  byLines((lines, at, dice) => {
    lines[at] = dice.below(2) === 0 ? ` ${lines[at]}` : lines[at]!.replace(/^ /, '');
  }),
  byLines((lines, at) => void lines.splice(at, 2, lines.slice(at, at + 2).join(' '))),
  (text, dice) => text.slice(0, dice.below(text.length)),
  (text, dice) => {
    const at = dice.below(text.length);
    return text.slice(0, at) + dice.pick(BYTES) + text.slice(at);
  },
  (text, dice) => {
    const at = dice.below(text.length);
    return text.slice(0, at) + text.slice(at + 1 + dice.below(8));
  },
  (text, dice, others) => {
    const other = dice.pick(others);
    const [at, from] = [dice.below(text.length), dice.below(other.length)];
    return text.slice(0, at) + other.slice(from, from + dice.below(80)) + text.slice(at);
  },
];

/** A file with one to three changes such as people and programs make. */
export function mutate(text: string, dice: Dice, others: readonly string[]): string {
  let mutant = text;
  for (let changes = dice.pick([1, 1, 1, 2, 3]); changes > 0; changes--)
    mutant = dice.pick(MUTATIONS)(mutant, dice, others);
  return mutant;
}
