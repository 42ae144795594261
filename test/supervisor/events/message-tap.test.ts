import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { FleetEvent, LogEvent, NotificationEvent } from '../../../src/fleet/fleet.js';
import { config, server } from '../../faults/config.js';
import { startHerd, until } from '../../support/herd.js';
import { settled, spec, World } from '../world.js';

/** A herd with one chatty server, and the events and log lines of that server. */
async function listen(fields: Record<string, unknown> = {}, daemon: Record<string, unknown> = {}) {
  const herd = await startHerd(config([server('chatty', 'chatty.mjs', fields)], daemon));
  const { fleet, home } = herd;
  const events: FleetEvent[] = [];
  onTestFinished(fleet.subscribe(['log', 'notification'], (event) => events.push(event)));
  // the subscription is in place when a later request is answered
  await fleet.status();
  const heard = <T extends FleetEvent>(isIt: (event: T) => boolean) =>
    until(() => events.find((event) => isIt(event as T)) as T | undefined);
  const written = () =>
    readFileSync(join(home.folder, 'state', 'logs', 'servers', 'chatty.log'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { ...herd, events, heard, written };
}

const LEVELS = [
  ['debug', 'debug', 20],
  ['info', 'info', 30],
  ['notice', 'info', 30],
  ['warning', 'warn', 40],
  ['error', 'error', 50],
  ['critical', 'fatal', 60],
  ['alert', 'fatal', 60],
  ['emergency', 'fatal', 60],
  ['unheard-of', 'info', 30],
] as const;

describe('notifications of a server', () => {
  test('FR-027: its log messages reach the log file and every subscriber, each at its level', async () => {
    const { say, heard, events, written } = await listen({}, { log_level: 'debug' });
    expect(await say('chatty', 'levels')).toBe('["debug"]');
    const messages = LEVELS.map(([level]) => ({ level, logger: 'db', data: `at ${level}` }));
    await say('chatty', 'log', { messages });
    await heard<LogEvent>(({ message }) => message === 'at unheard-of');
    expect(events.map((event) => event.topic === 'log' && [event.message, event.level])).toEqual(
      LEVELS.map(([level, mapped]) => [`at ${level}`, mapped]),
    );
    expect(events[0]).toEqual({
      topic: 'log',
      server: 'chatty',
      incarnation: 1,
      level: 'debug',
      mcp_level: 'debug',
      logger: 'db',
      message: 'at debug',
      at: expect.stringMatching(/^\d{4}-/),
    });
    expect(written().filter(({ source }) => source === 'mcp')).toEqual(
      LEVELS.map(([level, , number]) => ({
        level: number,
        time: expect.any(String),
        source: 'mcp',
        incarnation: 1,
        logger: 'db',
        msg: `at ${level}`,
      })),
    );
  });

  test('FR-027: the server gets the log level of the config', async () => {
    const { say } = await listen({}, { log_level: 'warn' });
    expect(await say('chatty', 'levels')).toBe('["warning"]');
  });

  test('FR-027: data of any shape is shown as JSON, also without a logger, and is cut when long', async () => {
    const { say, heard } = await listen();
    const messages = [
      { level: 'info', data: { a: [1, null] } },
      { level: 'info', data: 7 },
      { level: 'info' },
      { level: 'info', data: 'x'.repeat(9000) },
    ];
    await say('chatty', 'log', { messages });
    const { logger } = await heard<LogEvent>(({ message }) => message === '{"a":[1,null]}');
    expect(logger).toBeNull();
    await heard<LogEvent>(({ message }) => message === '7');
    await heard<LogEvent>(({ message }) => message === '');
    await heard<LogEvent>(({ message }) => message.length < 8300 && message.endsWith('… (808 more)'));
  });

  test('X1: no message and no notification shows a declared value', async () => {
    const { say, heard, events, written } = await listen({ env: { API_TOKEN: 'hunter2hunter2' } });
    expect(await say('chatty', 'secret')).toBe('hunter2hunter2');
    const data = { token: 'hunter2hunter2' };
    await say('chatty', 'log', { messages: [{ level: 'error', logger: 'hunter2hunter2', data }] });
    await say('chatty', 'print', { stream: 'stdout', line: 'noise of hunter2hunter2' });
    await say('chatty', 'notify', {
      method: 'notifications/x',
      params: { hunter2hunter2: ['hunter2hunter2'] },
    });
    await heard<NotificationEvent>(({ method }) => method === 'notifications/x');
    expect(events.length).toBe(4);
    expect(JSON.stringify([events, written()])).not.toContain('hunter2');
    expect(JSON.stringify(events)).toContain('[redacted:API_TOKEN]');
  });

  test('X1: a message that is cut inside of a secret shows no part of the secret', async () => {
    const { say, heard, events } = await listen({ env: { API_TOKEN: 'hunter2hunter2' } });
    const message = { level: 'error', logger: `${'l'.repeat(195)}hunter2hunter2` };
    const data = `${'x'.repeat(8185)}hunter2hunter2${'y'.repeat(500)}`;
    await say('chatty', 'log', { messages: [{ ...message, data }] });
    const told = await heard<LogEvent>(({ topic }) => topic === 'log');
    expect(told.message).toMatch(/^x{8185}\[redact … \(507 more\)$/);
    expect(told.logger).toMatch(/^l{195}\[reda … \(9 more\)$/);
    expect(JSON.stringify(events)).not.toContain('hunter');
  });

  test('X1: a message that is not read to its end shows no half of the secret where the reading ends', async () => {
    // redacted, all that is read is short enough to be shown
    const token = 'abcdefghij'.repeat(400);
    const { say, heard, events } = await listen({ env: { API_TOKEN: token } });
    const data = `${token} `.repeat(40);
    await say('chatty', 'log', { messages: [{ level: 'error', data }] });
    const told = await heard<LogEvent>(({ topic }) => topic === 'log');
    expect(told.message).toMatch(/ … \(\d+ more\)$/);
    expect(JSON.stringify(events)).not.toContain('abcdefghij');
  });

  test('a flood of log messages is limited, and the log counts the dropped ones', async () => {
    const { say, written } = await listen();
    await say('chatty', 'flood', { count: 2000 });
    const kept = written().filter(({ source }) => source === 'mcp').length;
    expect(kept).toBeGreaterThan(100);
    expect(kept).toBeLessThan(1000);
    // the allowance grows again
    const said = await until(async () => {
      await say('chatty', 'log', { messages: [{ level: 'info', data: 'later' }] });
      return written().find(({ msg }) => /^\d+ log messages dropped/.test(String(msg)));
    });
    expect(said).toMatchObject({ level: 40, source: 'toolherd' });
  });

  test('FR-028: its notifications are emitted unchanged, except those that toolherd handles', async () => {
    const { say, heard, events } = await listen();
    const notify = (method: string, params?: unknown) => say('chatty', 'notify', { method, params });
    await notify('notifications/tools/list_changed');
    await notify('notifications/cancelled', { requestId: 99 });
    await notify('notifications/progress', { progressToken: 'x', progress: 1 });
    await notify('toolherd/error', { cause: 'forged', message: 'forged' });
    await notify('notifications/resources/updated', { uri: 'file:///a', unheardOf: { deep: 1 } });
    await notify('notifications/unheard-of');
    await heard<NotificationEvent>(({ method }) => method === 'notifications/unheard-of');
    const told = events.flatMap((event) =>
      event.topic === 'notification' ? [[event.method, event.params]] : [],
    );
    expect(told).toEqual([
      ['notifications/resources/updated', { uri: 'file:///a', unheardOf: { deep: 1 } }],
      ['notifications/unheard-of', {}],
    ]);
  });

  test('FR-028: toolherd/error reports output that is no message, and an exit without an order', async () => {
    const { say, heard } = await listen();
    await say('chatty', 'print', { stream: 'stdout', line: 'Listening on port 80' });
    const noise = await heard<NotificationEvent>(({ method }) => method === 'toolherd/error');
    expect(noise).toMatchObject({
      incarnation: 1,
      params: { cause: 'noise', message: 'Listening on port 80' },
    });
    await say('chatty', 'exit');
    const crash = await heard<NotificationEvent>(
      ({ topic, params }) => topic === 'notification' && params.cause === 'exit',
    );
    expect(crash).toMatchObject({
      method: 'toolherd/error',
      params: { message: 'chatty: exited with code 7', fix: 'see "toolherd logs chatty"' },
    });
  });

  test('its stderr is emitted as log events', async () => {
    const { say, heard } = await listen();
    await say('chatty', 'print', { stream: 'stderr', line: 'careful' });
    const line = await heard<LogEvent>(({ logger }) => logger === 'stderr');
    expect(line).toMatchObject({ topic: 'log', level: 'info', message: 'careful', incarnation: 1 });
  });

  test('a line that it prints has the same level in its log as in the event', async () => {
    const { say, events, heard, written } = await listen();
    for (const stream of ['stderr', 'stdout']) {
      await say('chatty', 'print', { stream, line: 'a line' });
      await heard<LogEvent>(({ logger }) => logger === stream);
    }
    const told = events.flatMap((event) => (event.topic === 'log' ? [[event.logger, event.level]] : []));
    expect(told).toEqual([
      ['stderr', 'info'],
      ['stdout', 'warn'],
    ]);
    expect(written().map(({ source, level }) => [source, level])).toEqual([
      ['stderr', 30],
      ['stdout', 40],
    ]);
  });
});

describe('the message tap', () => {
  test('builds no event without a subscriber; a subscriber that throws disturbs no other', async () => {
    const world = new World();
    world.behaviour = () => ({ opens: true });
    let redacted = 0;
    const herd = world.herd({
      redact: (value) => {
        redacted += 1;
        return value;
      },
    });
    herd.apply([spec()]);
    await herd.view.order('start', { all: true });
    await settled();
    const before = redacted;
    world.newest.says('notifications/x');
    herd.printed('srv', 1, { source: 'stderr', text: 'x' });
    expect(redacted).toBe(before);
    const heard: FleetEvent[] = [];
    const ends = [
      herd.view.events.subscribe(['notification'], () => {
        throw new Error('oh');
      }),
      herd.view.events.subscribe(['notification'], (event) => heard.push(event)),
    ];
    world.newest.says('notifications/y');
    expect(heard).toMatchObject([{ method: 'notifications/y', params: {} }]);
    expect(world.logs).toContain('srv: a listener failed: Error: oh');
    for (const end of ends) end();
    world.newest.says('notifications/z');
    expect(heard).toHaveLength(1);
  });
});
