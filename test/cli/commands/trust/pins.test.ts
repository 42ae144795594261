import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import type { PinReport } from '../../../../src/fleet/fleet.js';
import { connectSocket } from '../../../../src/ipc/socket/connect-socket.js';
import { openFleet } from '../../../../src/library/open-fleet.js';
import { config, server } from '../../../faults/config.js';
import { toolherd } from '../../../support/command.js';
import { makeFolder } from '../../../support/folder.js';
import { killDaemon, makeHome, startHerd, until } from '../../../support/herd.js';
import { onTerminal } from '../../../support/terminal.js';
import { SCHEMAS } from '../../schemas.js';

const tool = (name: string, description = `what ${name} does`) => ({
  name,
  description,
  inputSchema: { type: 'object', properties: { a: { type: 'string' } } },
});
const GOOD = [tool('add'), tool('announce')];
/** Turned around, without width, spelled in tags, with a line that looks like ours, and a terminal's own words. */
const HIDDEN = 'what add does\u202Edaer\u200B\u{E0041}\n+ accepted: demo.add\u001B[2J';

/** A server whose tools are in a file, and which writes down what reaches it. */
function changingServer(policy: string) {
  const folder = makeFolder({ 'tools.json': JSON.stringify(GOOD), ran: '' });
  const args = [join(folder, 'tools.json'), join(folder, 'ran')];
  const text = config([server('demo', 'changes.mjs', { args })]);
  return {
    text: text.replace('security: {', `security: {pin: ${policy}, `),
    offers: (tools: unknown[]) => writeFileSync(args[0]!, JSON.stringify(tools)),
    ran: () => readFileSync(args[1]!, 'utf8').split('\n').slice(0, -1),
  };
}

function run(home: { folder: string; environment: Record<string, string> }, ...args: string[]) {
  return toolherd(args, { cwd: home.folder, env: home.environment });
}

it('a changed tool is shown with its difference and hidden characters, and every command that looks mentions it', async () => {
  const { text, offers } = changingServer('warn');
  const { home, fleet } = await startHerd(text);
  await fleet.start({ servers: ['demo'] }, true);
  expect((await run(home, 'pins')).stdout).toBe('demo: 2 tools pinned\n');
  offers([tool('add', HIDDEN), tool('announce'), tool('more')]);
  await fleet.restart({ servers: ['demo'] }, true);
  const { stdout } = await run(home, 'pins', 'demo');
  expect(stdout.replace(/, \S+ ago/, ', N ago').split('\n')).toEqual([
    'demo: 3 tools pinned, 1 to accept',
    '  ~ add (changed, N ago)',
    '      @@ description @@',
    '      -what add does',
    '      +what add does\\u{202e}daer\\u{200b}\\u{e0041}',
    '      ++ accepted: demo.add\\u{1b}[2J',
    '',
  ]);
  const note = 'demo: 1 tool differs from its pin; see "toolherd pins demo"';
  for (const command of ['status', 'doctor', 'why']) {
    const { stdout: said } = await run(home, command, ...(command === 'why' ? ['demo'] : []));
    expect(said, command).toContain(note);
  }
  const logged = (await run(home, 'logs', 'demo')).stdout;
  expect(logged).toContain('these tools are not what was pinned: add');
  expect(logged).toContain(
    'these tools were not there when the others were pinned: more; they are pinned now',
  );
  expect((await run(home, 'call', 'demo.add')).status).toBe(0);
});

it('enforce: a changed or later tool reaches no agent and no server on any way, until it is accepted', async () => {
  const { text, offers, ran } = changingServer('enforce');
  const { home, fleet } = await startHerd(text);
  await fleet.call({ server: 'demo', tool: 'add' });
  offers([tool('add', 'evil'), tool('announce'), tool('later')]);
  await fleet.call({ server: 'demo', tool: 'announce' });
  const peer = await connectSocket({ path: home.socket });
  const listed = async () => {
    const { tools } = (await peer.request('tools/list', {})) as { tools: { name: string }[] };
    return tools.map(({ name }) => name);
  };
  await until(async () => (await listed()).length === 1);
  expect(await listed()).toEqual(['demo__announce']);
  const called = (await peer.request('tools/call', { name: 'demo__add', arguments: {} })) as {
    isError: boolean;
    content: { text: string }[];
  };
  expect(called.isError).toBe(true);
  expect(called.content[0]?.text).toContain('its description changed after it was pinned');
  for (const name of ['add', 'later']) {
    const { error } = await fleet.call({ server: 'demo', tool: name });
    expect(error).toMatchObject({ type: 'TrustRequiredError', sent: false });
  }
  const [cast] = await fleet.broadcast({ tool: 'add' });
  expect(cast?.error?.type).toBe('TrustRequiredError');
  const refused = await run(home, 'call', 'demo.add');
  expect(refused.status).toBe(77);
  expect(refused.stderr).toContain('toolherd pins demo --accept');
  const table = await run(home, 'tools', 'demo');
  expect(table.stdout).toContain('demo.add (blocked)');
  expect(ran()).toEqual(['add', 'announce']);

  const accepted = await run(home, 'pins', 'demo', '--accept');
  expect(accepted).toMatchObject({ status: 0, stderr: '' });
  expect(accepted.stdout).toContain('accepted: demo.add\naccepted: demo.later\n');
  expect(await listed()).toEqual(['demo__add', 'demo__announce', 'demo__later']);
  expect((await fleet.call({ server: 'demo', tool: 'later' })).success).toBe(true);
  expect((await run(home, 'pins', '--accept')).stderr).toBe('there is nothing to accept\n');
  peer.destroy();
});

it('pins survive the daemon and are shared with the library; the first call after a start is compared', async () => {
  const { text, offers, ran } = changingServer('enforce');
  const home = makeHome(text);
  const daemon = await home.start();
  expect((await run(home, 'call', 'demo.add')).status).toBe(0);
  const folder = join(home.folder, 'state', 'pins');
  const [file = ''] = readdirSync(folder);
  expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  await killDaemon(home, daemon);
  offers([tool('add', 'evil'), tool('announce')]);
  await home.start();
  const { result } = JSON.parse((await run(home, 'call', 'demo.add', '--json')).stdout);
  expect(result.error.type).toBe('TrustRequiredError');
  expect(ran()).toEqual(['add']);

  const before = process.env.TOOLHERD_HOME;
  process.env.TOOLHERD_HOME = home.folder;
  try {
    const library = await openFleet();
    const { error } = await library.call('demo', 'add');
    expect(error?.type).toBe('TrustRequiredError');
    const { servers, accepted } = await library.pins({ server: 'demo', accept: true });
    expect(accepted).toMatchObject([{ server: 'demo', tool: 'add' }]);
    expect(servers[0]?.tools.map(({ state }) => state)).toEqual(['pinned', 'pinned']);
    expect((await library.call('demo', 'add')).success).toBe(true);
    await expect(library.pins({ server: 'absent' })).rejects.toMatchObject({ type: 'ServerNotFoundError' });
    await library.close();
  } finally {
    if (before === undefined) delete process.env.TOOLHERD_HOME;
    else process.env.TOOLHERD_HOME = before;
  }
});

it('a broken pin file blocks every tool with enforce, is reported, and is kept aside after an acceptance', async () => {
  const { text, ran } = changingServer('enforce');
  const { home, fleet } = await startHerd(text);
  await fleet.call({ server: 'demo', tool: 'add' });
  const folder = join(home.folder, 'state', 'pins');
  const file = join(folder, readdirSync(folder)[0]!);
  writeFileSync(file, '{"format":1,"tools":[{"na');
  await fleet.restart({ servers: ['demo'] }, true);
  const { error } = await fleet.call({ server: 'demo', tool: 'add' });
  expect(error).toMatchObject({
    type: 'TrustRequiredError',
    why: expect.stringContaining(`${file} makes no sense`),
  });
  expect(ran()).toEqual(['add']);
  const shown = await run(home, 'pins');
  expect(shown.stdout).toContain(`the pins cannot be read: ${file} makes no sense`);
  expect(shown.stdout).toContain('+ add (new and blocked');
  expect((await run(home, 'pins', 'demo', '--accept')).status).toBe(0);
  expect(existsSync(`${file}.broken`)).toBe(true);
  expect((await fleet.call({ server: 'demo', tool: 'add' })).success).toBe(true);
});

it('--accept asks on a terminal: no is exit 77 and accepts nothing, yes accepts', async () => {
  const { text, offers } = changingServer('enforce');
  const { home, fleet } = await startHerd(text);
  await fleet.start({ servers: ['demo'] }, true);
  offers([tool('add', 'evil'), tool('announce')]);
  await fleet.restart({ servers: ['demo'] }, true);
  for (const [answer, status, state] of [
    ['n', 77, 'changed'],
    ['y', 0, 'pinned'],
  ] as const) {
    const terminal = onTerminal(['pins', 'demo', '--accept'], { cwd: home.folder, env: home.environment });
    await until(() => terminal.screen().includes('Accept this? [y/N]'));
    terminal.press(`${answer}\n`);
    expect(await terminal.status).toBe(status);
    expect((await fleet.pins({ server: 'demo' })).servers[0]?.tools[0]?.state).toBe(state);
  }
});

it('--json follows its schema; a tool that changed again after it was shown is not accepted', async () => {
  const { text, offers } = changingServer('enforce');
  const { home, fleet } = await startHerd(text);
  await fleet.start({ servers: ['demo'] }, true);
  offers([tool('add', 'evil'), tool('announce')]);
  await fleet.restart({ servers: ['demo'] }, true);
  const shown = JSON.parse((await run(home, 'pins', '--json')).stdout) as PinReport;
  const ajv = new Ajv2020({ allErrors: true });
  expect(ajv.validate(SCHEMAS.pins!, shown), ajv.errorsText()).toBe(true);
  const [{ offered } = { offered: null }] = shown.servers[0]!.tools;
  expect(offered?.definition).toMatchObject({ description: 'evil' });
  offers([tool('add', 'worse'), tool('announce')]);
  await fleet.restart({ servers: ['demo'] }, true);
  const late = await fleet.pins({ server: 'demo', accept: true, hashes: [offered!.hash] });
  expect(late.accepted).toEqual([]);
  expect(late.servers[0]?.tools[0]).toMatchObject({ state: 'changed', blocked: true });
  const accepted = JSON.parse((await run(home, 'pins', '--accept', '--json')).stdout) as PinReport;
  expect(ajv.validate(SCHEMAS.pins!, accepted), ajv.errorsText()).toBe(true);
  expect(accepted.accepted).toMatchObject([{ server: 'demo', tool: 'add' }]);
  expect((await run(home, 'pins', 'absent')).status).toBe(4);
});
