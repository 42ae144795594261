import { describe, expect, expectTypeOf, it } from 'vitest';
import { type Command, defineCommand } from '../../../src/cli/core/command.js';
import { parseTokens, readGlobals, readValues } from '../../../src/cli/core/parse-argv.js';
import { usageOf } from '../../../src/cli/core/usage.js';

const command = defineCommand({
  name: 'logs',
  summary: 's',
  args: {
    kind: { choices: ['agent', 'config'] },
    files: { label: 'FILE', noun: 'file', many: true, unless: 'all', hint: 'see "toolherd list"' },
  },
  options: {
    all: { type: 'boolean', short: 'a', about: 'a' },
    lines: { type: 'integer', short: 'n', min: 1, max: 100, default: 50, about: 'a' },
    since: { type: 'duration', about: 'a' },
    level: { type: 'string', choices: ['info', 'warn'], default: 'info', about: 'a' },
    env: { type: 'string', label: 'K=V', many: true, about: 'a' },
    secret: { type: 'string', hidden: true, about: 'a' },
  },
  examples: [],
  async run({ args, options }) {
    expectTypeOf(args.kind).toEqualTypeOf<'agent' | 'config'>();
    expectTypeOf(args.files).toEqualTypeOf<readonly string[]>();
    expectTypeOf(options.lines).toEqualTypeOf<number>();
    expectTypeOf(options.since).toEqualTypeOf<number | undefined>();
    expectTypeOf(options.level).toEqualTypeOf<'info' | 'warn'>();
    expectTypeOf(options.env).toEqualTypeOf<readonly string[]>();
    return 0;
  },
});

const parse = (line: string, declared: Command = command) => {
  const tokens = parseTokens(line.split(' ').filter(Boolean), declared);
  return { ...readValues(declared, tokens), globals: readGlobals(tokens) };
};

/** The message and the fix of the usage error of a line. */
function refusal(line: string): [string, string | undefined] {
  try {
    parse(line);
  } catch (error) {
    const { message, fix } = error as { message: string; fix?: string };
    return [message, fix];
  }
  throw new Error(`no error: ${line}`);
}

describe('a declared command', () => {
  it('has a usage line made from its declaration, without hidden options', () => {
    expect(usageOf(command)).toBe(
      'logs agent|config FILE…|--all [--lines N] [--since 30s] [--level info|warn] [--env K=V]…',
    );
  });

  it('gets its values by declaration, with defaults', () => {
    expect(parse('agent a b')).toMatchObject({
      args: { kind: 'agent', files: ['a', 'b'] },
      options: { all: false, lines: 50, since: undefined, level: 'info', env: [] },
      globals: { json: false, timeout: undefined },
    });
    const line = 'config --all -n 3 --since 2m --level warn --env A=1 --env B=2 --timeout 500ms';
    expect(parse(line)).toMatchObject({
      args: { kind: 'config', files: [] },
      options: { all: true, lines: 3, since: 120_000, level: 'warn', env: ['A=1', 'B=2'] },
      globals: { timeout: 500 },
    });
  });

  it.each([
    ['', 'name a kind and a file', undefined],
    ['agent', 'name a file, or say --all', 'see "toolherd list"'],
    ['agent a --all', 'name a file, or say --all', 'see "toolherd list"'],
    ['agnet a', "unknown kind 'agnet'", "did you mean 'agent'?"],
    ['other a', "unknown kind 'other'", undefined],
    ['agent a --level loud', "unknown level 'loud'", 'one of: info, warn'],
    ['agent a -n 0', '--lines must be a whole number from 1 to 100', 'for example --lines 20'],
    ['agent a -n 1.5', '--lines must be a whole number from 1 to 100', 'for example --lines 20'],
    ['agent a -n -5', '--lines must be a whole number from 1 to 100', 'for example --lines 20'],
    ['agent a -n', '--lines needs a value', undefined],
    ['agent a --all=yes', '--all takes no value', undefined],
    ['agent a --env -x', '--env needs a value', 'a value that begins with a dash is written --env=VALUE'],
    ['agent a --since long', "--since: 'long' is not a duration", 'write for example 30s, 500ms or 2m'],
    ['agent a --timeout x', "--timeout: 'x' is not a duration", 'write for example 30s, 500ms or 2m'],
  ])('refuses "%s"', (line, message, fix) => {
    expect(refusal(line)).toEqual([message, fix]);
  });

  it('refuses more arguments than it declares', () => {
    const none = defineCommand({ name: 'up', summary: 's', examples: [], run: async () => 0 });
    expect(() => parse('extra', none)).toThrow("too many arguments for 'up'");
  });

  it('suggests the nearest option, with the usage line', () => {
    expect(refusal('agent a --lnies 3')).toEqual([
      "unknown option '--lnies' for 'logs'",
      `did you mean '--lines'? usage: toolherd ${usageOf(command)}`,
    ]);
  });
});
