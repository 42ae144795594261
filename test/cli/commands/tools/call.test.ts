import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkArguments, describeArguments } from '../../../../src/cli/commands/tools/check-arguments.js';
import { parseArguments } from '../../../../src/cli/commands/tools/parse-arguments.js';
import { config, server } from '../../../faults/config.js';
import { COMMAND, toolherd } from '../../../support/command.js';
import { startHerd, until } from '../../../support/herd.js';
import { share } from '../../../support/share.js';
import { onTerminal } from '../../../support/terminal.js';

const SCHEMA = {
  type: 'object',
  properties: {
    text: { type: 'string' },
    count: { type: 'integer' },
    price: { type: ['number', 'null'] },
    isOpen: { type: 'boolean' },
    size: { enum: [1, 2, 'large'] },
    tags: { type: 'array' },
    more: { $ref: '#/$defs/more' },
  },
  required: ['text'],
};

const check = (given: Record<string, unknown>, schema: unknown = SCHEMA) => {
  try {
    return checkArguments('tool', schema, given);
  } catch (error) {
    const { message, fix } = error as { message: string; fix: string };
    return { message, fix };
  }
};

describe('arguments of a tool', () => {
  it.each([
    ['text=3', { text: '3' }],
    ['count=3', { count: 3 }],
    ['count=3.5', { count: 3.5 }],
    ['price=null', { price: null }],
    ['isOpen=true', { isOpen: true }],
    ['isOpen=yes', { isOpen: 'yes' }],
    ['size=2', { size: 2 }],
    ['size=large', { size: 'large' }],
    ['tags=["a"]', { tags: ['a'] }],
    ['more=3', { more: '3' }],
    ['other=3', { other: '3' }],
    ['text:=3', { text: 3 }],
  ])('%s is converted by the schema', (word, given) => {
    expect(parseArguments([word], undefined, SCHEMA)).toEqual(given);
  });

  it('may have the name of an inherited property', () => {
    const given = parseArguments(['__proto__=x'], undefined, SCHEMA);
    expect(Object.keys(given)).toEqual(['__proto__']);
  });

  it.each([
    [{}, "'text' is missing"],
    [{ txt: 'a' }, "tool has no argument 'txt'; did you mean 'text'?"],
    [{ text: 'a', count: 'x' }, `'count' must be a whole number, not "x"`],
    [{ text: 'a', count: 1.5 }, `'count' must be a whole number, not 1.5`],
    [{ text: 'a', price: true }, `'price' must be a number or null, not true`],
    [{ text: 'a', size: 'larg' }, `'size' must be 1 or 2 or "large"; did you mean 'large'?`],
    [{ text: 'a', tags: 'b' }, `'tags' must be a list, not "b" (write tags:='["…"]')`],
    [{ text: 1, count: 'x' }, `'text' must be a text, not 1; 'count' must be a whole number, not "x"`],
  ])('%o is refused before it is sent, with the arguments of the tool', (given, message) => {
    expect(check(given)).toEqual({
      message,
      fix: 'tool takes text=TEXT [count=NUMBER] [price=NUMBER] [isOpen=true|false] [size=1|2|large] [tags:=JSON] [more=TEXT]',
    });
  });

  it('are checked only against plain rules of the schema', () => {
    expect(check({ text: 'a', more: { any: 'thing' } })).toEqual([]);
    expect(check({ text: 'a', unheard: 1 })).toEqual(["tool has no argument 'unheard'"]);
    expect(check({ a: 1 }, { type: 'object' })).toEqual([]);
    expect(check({ a: 1 }, null)).toEqual([]);
    expect(check({ a: 1 }, { properties: { a: true, b: null }, required: 'b' })).toEqual([]);
    expect(check({ a: 1 }, { properties: { a: { type: 'text' } } })).toEqual([]);
    expect(describeArguments({ type: 'object' })).toBe('no arguments');
    const city = { enum: ['New York', 'Chicago'] };
    expect(describeArguments({ properties: { city }, required: ['city'] })).toBe("city='New York'|Chicago");
  });

  it('are not refused if the tool may accept them: nullable, defaults, patterns, additional properties', () => {
    const properties = { a: { type: 'string', nullable: true }, b: { enum: ['x'], nullable: true } };
    expect(check({ a: null, b: null }, { properties })).toEqual([]);
    expect(check({}, { properties: { n: { type: 'integer', default: 3 } }, required: ['n'] })).toEqual([]);
    const byPattern = { properties, patternProperties: { '^x-': {} }, additionalProperties: false };
    expect(check({ 'x-one': 1 }, byPattern)).toEqual([]);
    expect(check({ other: 1 }, { properties, additionalProperties: { type: 'number' } })).toEqual([]);
  });

  it('are checked against referenced definitions of the schema', () => {
    const schema = {
      properties: {
        level: { $ref: '#/$defs/Level' },
        maybe: { anyOf: [{ $ref: '#/$defs/Level' }, { type: 'null' }] },
        point: { $ref: '#/definitions/Point' },
        lost: { $ref: '#/$defs/Nowhere' },
      },
      $defs: { Level: { type: 'integer', enum: [1, 2] } },
      definitions: { Point: { type: 'object' } },
    };
    const words = ['level=2', 'maybe=1', 'point={"x":1}', 'lost=3'];
    const given = parseArguments(words, undefined, schema);
    expect(given).toEqual({ level: 2, maybe: 1, point: { x: 1 }, lost: '3' });
    expect(check(given, schema)).toEqual([]);
    expect(check({ level: 30 }, schema)).toMatchObject({ message: "'level' must be 1 or 2" });
  });

  it('may have a colon in name and value', () => {
    const given = parseArguments(['xml:lang=de', 'xml:n:=1', 'url=http://a:=b'], undefined, undefined);
    expect(given).toEqual({ 'xml:lang': 'de', 'xml:n': 1, url: 'http://a:=b' });
    expect(() => parseArguments([':=1'], undefined, undefined)).toThrow("':=1' is not an argument");
  });
});

describe('the target of a call', () => {
  const herd = share(() =>
    startHerd(
      config([server('typed', 'typed.mjs'), server('good', 'good.mjs'), server('other', 'good.mjs')]),
    ),
  );

  it.each([
    [['typed', 'add', 'a=1'], "'typed' is a server", "did you mean 'typed.add'?"],
    [['typed', 'a=1'], "'typed' is a server", 'name one of its tools: see "toolherd tools typed"'],
    [['add', 'a=1'], "'add' names no tool", "did you mean 'typed.add'?"],
    [['ordr'], "'ordr' names no tool", "did you mean 'typed.order'?"],
    [['echo'], "'echo' names no tool", "did you mean 'good.echo' or 'other.echo'?"],
    [['typed.'], "'typed.' names no tool", 'write SERVER.TOOL; see "toolherd tools"'],
    [['.'], "'.' names no tool", 'write SERVER.TOOL; see "toolherd tools"'],
  ])('%j is a usage error that proposes SERVER.TOOL', async (words, message, fix) => {
    const { home } = herd();
    const options = { cwd: home.folder, env: home.environment };
    expect(await toolherd(['call', ...words], options)).toEqual({
      status: 2,
      stdout: '',
      stderr: `error: UsageError: ${message}\n  fix: ${fix}\n`,
    });
  });
});

describe('a call to a server that does not exist', () => {
  const herd = share(() => startHerd(config([server('good', 'good.mjs')])));

  it.each(['good-2.echo', 'good_2.echo', 'goodies.echo'])(
    '%s reaches no other server, also not one with a similar name',
    async (target) => {
      const { home, fleet } = herd();
      const options = { cwd: home.folder, env: home.environment };
      const { status, stderr } = await toolherd(['call', target, 'value=private'], options);
      const [name = ''] = target.split('.');
      expect([status, stderr]).toEqual([4, expect.stringContaining(`no server is called '${name}'`)]);
      expect((await fleet.status()).servers).toMatchObject([{ name: 'good', pids: [], calls: 0 }]);
    },
  );
});

describe('toolherd call', () => {
  it('a pipe gets the text of a tool byte for byte, and no further newline', async () => {
    const herd = await startHerd(config([server('good', 'good.mjs')]));
    const options = { cwd: herd.home.folder, env: herd.home.environment };
    for (const value of ['hello', 'hello\n', 'two\nlines\n\n']) {
      const { stdout } = await toolherd(['call', 'good.echo', '--args', JSON.stringify({ value })], options);
      expect(stdout).toBe(await herd.say('good', 'echo', { value }));
    }
  });

  it('a remote server that never answers is waited for once, not for its tools and again for the call', async () => {
    const silent = createServer((connection) => connection.on('error', () => undefined).resume());
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void silent.close());
    const { port } = silent.address() as AddressInfo;
    const remote = { name: 'r', description: 'r', server: 'r', transport: 'http', timeout: 6 };
    const herd = await startHerd(config([{ ...remote, url: `http://127.0.0.1:${port}/mcp` }]));
    const begun = performance.now();
    const options = { cwd: herd.home.folder, env: herd.home.environment };
    const { status, stderr } = await toolherd(['call', 'r.tool'], options);
    expect(performance.now() - begun).toBeLessThan(11_000);
    expect(status).toBe(1);
    expect(stderr).toContain('error: ServerUnavailableError: r: could not be started; the next try is in');
    expect(stderr).toContain('gave no initialize reply in 6 s');
  });

  it('--help behind a tool shows what the tool takes, and does not call it', async () => {
    const herd = await startHerd(config([server('typed', 'typed.mjs')]));
    const options = { cwd: herd.home.folder, env: herd.home.environment };
    const help = await toolherd(['call', 'typed.add', '--help'], options);
    expect(help).toMatchObject({ status: 0, stderr: '' });
    expect(help.stdout).toMatch(/^Usage: toolherd call typed\.add a=NUMBER b=NUMBER \[loud=true\|false\]\n/);
    expect(help.stdout).toMatch(/\n {2}a +required\n {2}b +required\n {2}loud +optional\n/);
    expect((await toolherd(['call', 'typed.add', '-h', '--json'], options)).stdout).toContain('"help"');
    expect((await toolherd(['call', 'typed.ad', '--help'], options)).status).toBe(4);
    expect((await toolherd(['call', 'absent.add', '--help'], options)).status).toBe(4);
    expect((await herd.status('typed')).calls).toBe(0);
  });

  it('refuses missing or invalid arguments, and the tool does not run: exit 2', async () => {
    const herd = await startHerd(config([server('typed', 'typed.mjs')]));
    const run = (...args: string[]) =>
      toolherd(['call', ...args], { cwd: herd.home.folder, env: herd.home.environment });
    expect(await run('typed.add', 'a=1')).toEqual({
      status: 2,
      stdout: '',
      stderr: "error: UsageError: 'b' is missing\n  fix: add takes a=NUMBER b=NUMBER [loud=true|false]\n",
    });
    expect((await run('typed.order', 'itm=x', 'count=many')).stderr).toContain(
      `order has no argument 'itm'; did you mean 'item'?; 'count' must be a whole number, not "many"`,
    );
    expect((await run('typed.order', 'item=x', 'colour=red')).status).toBe(2);
    expect((await herd.status('typed')).calls).toBe(0);
    expect((await run('typed.add', 'a=1', 'b=2', 'c=3')).stderr).toBe("warning: add has no argument 'c'\n");
    expect((await run('typed.order', 'item=1', 'count=2', 'note=null', 'limit=null')).stdout).toBe(
      '{"item":"1","count":2,"note":"null","limit":null}',
    );
    expect((await run('typed.nothing', 'any=thing')).stdout).toBe('{"any":"thing"}');
  });

  it('--args takes JSON, or - for stdin; words override it', async () => {
    const herd = await startHerd(config([server('typed', 'typed.mjs')]));
    const options = { cwd: herd.home.folder, env: herd.home.environment };
    const run = (input: string, ...args: string[]) =>
      toolherd(['call', 'typed.add', ...args], { ...options, input });
    expect((await run('{"a": 1, "b": 2}', '--args', '-', 'b=5')).stdout).toBe('{"a":1,"b":5}');
    expect((await run('', '--args', '{"a": "1", "b": 2}')).stderr).toContain(`'a' must be a number, not "1"`);
    expect((await run('', '--args', '[]')).status).toBe(2);
    expect((await run('', '--args', '{')).stderr).toContain('the value of --args is not valid JSON');
  });

  it('saves content that is no text, names the files, and prints only the text', async () => {
    const herd = await startHerd(config([server('content', 'content.mjs')]));
    const { folder, environment } = herd.home;
    const run = (...args: string[]) =>
      toolherd(['call', 'content.everything', ...args], {
        cwd: folder,
        env: { ...environment, TMPDIR: folder },
      });
    const { stdout, stderr, status } = await run();
    expect([status, stdout]).toEqual([0, 'first\nsecond']);
    const saved = [...stderr.matchAll(/^(\S+) \((\d+) bytes\) saved to (.*)$/gm)];
    expect(saved.map(([, type, size]) => [type, Number(size)])).toEqual([
      ['image/png', 8],
      ['audio/wav', 4],
      ['text/plain', 6],
      ['bytes', 3],
    ]);
    for (const [, , size, file = ''] of saved) {
      expect(statSync(file).size).toBe(Number(size));
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(file.startsWith(join(folder, 'toolherd-'))).toBe(true);
    }
    expect(stderr).toContain('(a link to file:///b.csv; see --raw)\n(hologram content; see --raw)\n');

    await run('--out', 'here');
    expect(readdirSync(join(folder, 'here')).sort()).toEqual([
      'content.everything-2.png',
      'content.everything-3.wav',
      'content.everything-4.txt',
      'content.everything-5.bin',
    ]);
    expect(readFileSync(join(folder, 'here', 'content.everything-4.txt'), 'utf8')).toBe('naïve');
    await run('--out', 'here');
    expect(existsSync(join(folder, 'here', 'content.everything-2-2.png'))).toBe(true);
    const before = readdirSync(folder).length;
    expect(JSON.parse((await run('--raw')).stdout).content[1].type).toBe('image');
    expect(readdirSync(folder).length).toBe(before);
  });

  it('a note begins a new line where stdout and stderr are one pipe, and a failed tool has its fix', async () => {
    const { home } = await startHerd(config([server('content', 'content.mjs')]));
    const options = { cwd: home.folder, env: home.environment };
    const said = (script: string) =>
      new Promise<string>((resolve) => {
        const args = ['-c', script, process.execPath, COMMAND, 'call', 'content.fails'];
        execFile('sh', args, options, (_, stdout) => resolve(stdout));
      });
    const error = 'error: MCPToolError: the tool reported a failure\n  fix: ';
    expect(await said('"$0" "$@" 2>&1')).toMatch(new RegExp(`^no such row\n${error}.`));
    expect(await said('"$0" "$@" 2>/dev/null')).toBe('no such row');
    expect(await said('"$0" "$@" 2>&1 >/dev/null')).toMatch(new RegExp(`^${error}.`));
  });

  it('that cannot save a file fails, and still prints the whole result', async () => {
    const herd = await startHerd(config([server('content', 'content.mjs')]));
    const options = { cwd: herd.home.folder, env: herd.home.environment };
    const args = ['call', 'content.everything', '--out', join(herd.home.configFile, 'here')];
    const told = await toolherd(args, options);
    expect(told).toMatchObject({ status: 1, stdout: 'first\nsecond' });
    expect(told.stderr).toMatch(/^error: UsageError: --out: .*\n {2}why: the tool has run/);
    const json = await toolherd([...args, '--json'], options);
    expect([json.status, JSON.parse(json.stdout).result.success]).toEqual([1, true]);
  });

  it('a temporary folder that cannot be made is the same failure', async () => {
    const herd = await startHerd(config([server('content', 'content.mjs')]));
    const env = { ...herd.home.environment, TMPDIR: herd.home.configFile };
    const outcome = await toolherd(['call', 'content.everything'], { cwd: herd.home.folder, env });
    expect(outcome).toMatchObject({ status: 1, stdout: 'first\nsecond' });
    expect(outcome.stderr).toMatch(
      /^error: UsageError: .*ENOTDIR.*\n {2}why: the tool has run.*\n {2}fix: .*--out/,
    );
  });

  it('shows progress as a bar on a terminal, and removes it before the result', async () => {
    const herd = await startHerd(config([server('good', 'good.mjs')]));
    const options = { cwd: herd.home.folder, env: herd.home.environment };
    const terminal = onTerminal(['call', 'good.progress', 'times:=3'], options);
    expect(await terminal.status).toBe(0);
    expect(terminal.screen()).toMatch(/\r\u001B\[K\[[#-]{20}\] 1\/3/);
    expect(terminal.screen().lastIndexOf('\r\u001B[K')).toBeGreaterThan(terminal.screen().lastIndexOf('/3'));
  });

  it('shows on a terminal that it waits for a start', async () => {
    const herd = await startHerd(config([server('slow', 'boots-slowly.mjs', { args: ['2500'] })]));
    const options = { cwd: herd.home.folder, env: herd.home.environment };
    const terminal = onTerminal(['call', 'slow.echo', 'value=hi'], options);
    await until(() => /waiting for slow to start \(connecting, \d+s\)/.test(terminal.screen()));
    expect(await terminal.status).toBe(0);
    expect(terminal.screen()).toMatch(/\r\u001B\[Khi\r\n$/);
  });

  it('exits with 130 at Ctrl-C, and cancels the call', async () => {
    const herd = await startHerd(config([server('good', 'good.mjs')]));
    const script = '"$1" "$2" call good.wait ms:=60000 & trap "kill -INT $!" TERM; wait $!; wait $!; echo $?';
    const child = spawn('bash', ['-mc', script, 'bash', process.execPath, COMMAND], {
      cwd: herd.home.folder,
      env: herd.home.environment,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    await until(async () => (await herd.status('good')).in_flight === 1);
    child.kill('SIGTERM');
    await until(() => text === '130\n');
    await until(async () => (await herd.status('good')).in_flight === 0);
  });
});
