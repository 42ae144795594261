import { describe, expect, it } from 'vitest';
import type { Failed } from '../../../src/machines/restart/ending.js';
import { type Clock, systemClock } from '../../../src/shared/clock.js';
import { remembering } from '../protocol/negotiation/remembering.js';
import { openLink, specOf } from '../support.js';

/** A clock that can be put forward. */
class Later implements Clock {
  ahead = 0;
  readonly setTimeout = systemClock.setTimeout;
  readonly clearTimeout = systemClock.clearTimeout;
  now(): number {
    return systemClock.now() + this.ahead;
  }
}

const SEE_LOGS = 'see "toolherd logs ends-with-words"';

/** `words`: on `server/discover`, and on `initialize`. */
function open(words: readonly string[] = [], { known = words.length === 0 } = {}) {
  const clock = new Later();
  const era = remembering(known ? 'mcp2025' : undefined);
  const opened = openLink(specOf('ends-with-words.mjs', {}, words), { clock, era });
  const ended = opened.ended as Promise<Failed>;
  const starts = () => opened.logs.filter(({ text }) => text.includes('started again')).length + 1;
  const tool = (name: string, text?: string) => opened.tool(name, { words: text }).catch(() => undefined);
  return { ...opened, ended, tool, clock, era, starts };
}

describe('a crash of a server that has served', () => {
  it('shows the output of the last five seconds, and nothing older', async () => {
    const { tool, ended, clock, logged } = open();
    await tool('write', 'old words');
    await logged(/old words/);
    clock.ahead += 6000;
    await tool('write', 'new words');
    await logged(/new words/);
    clock.ahead += 1000;
    await tool('end');
    expect((await ended).why).toBe('the last lines on stderr:\nnew words');
  });

  it('names no cause that only npm, uvx or docker can have: the server ran one of them', async () => {
    const { tool, ended } = open();
    await tool('end', 'npm error code E404');
    expect(await ended).toMatchObject({
      why: 'the last lines on stderr:\nnpm error code E404',
      fix: SEE_LOGS,
    });
  });

  it('does not show the output of the process before it', async () => {
    const { tool, ended, starts } = open(['words of the first']);
    await tool('end');
    const { why, fix } = await ended;
    expect([starts(), why, fix]).toEqual([2, undefined, SEE_LOGS]);
  });

  it('a signal is not explained by the output', async () => {
    const { tool, ended } = open();
    await tool('kill', 'Error: API_KEY is required');
    const { why, fix } = await ended;
    expect(why).toBe('the last lines on stderr:\nError: API_KEY is required');
    expect(fix).toContain(SEE_LOGS);
    expect(fix).not.toContain('API_KEY');
  });
});

describe('a start that failed twice', () => {
  it('shows the output of the first process, if the second wrote nothing', async () => {
    const { ended, starts } = open(['words of the first', '']);
    expect((await ended).why).toBe('the last lines on stderr:\nwords of the first');
    expect(starts()).toBe(2);
  });
});

describe('a process that exits long after server/discover', () => {
  it('a process that prints why is reported at once, and the next start begins with initialize', async () => {
    const { ended, clock, era, starts } = open(['the disk is full']);
    clock.ahead = 5001;
    expect(await ended).toMatchObject({
      cause: 'exit',
      code: 7,
      why: 'the last lines on stderr:\nthe disk is full',
    });
    expect([starts(), era.told]).toEqual([1, ['presume mcp2025']]);
  });

  it.each([
    ['without a word', ''],
    ['with nothing but a warning of npm', 'npm warn deprecated inflight@1.0.6: This module leaks memory.'],
    ['with words that blame the request', 'Error: ConnectionClosed("initialize request")'],
    ['with words of the Rust SDK', 'expect initialized request, but received: server/discover'],
  ])('%s is started again: npx may have had to download it', async (_, words) => {
    const { opened, clock, starts } = open([words]);
    clock.ahead = 60_000;
    await opened;
    expect(starts()).toBe(2);
  });
});

describe('the output of a server', () => {
  it('shows no secret argument, in the error and in the log', async () => {
    const args = ['--api-key=hunter2secretvalue', 'Error: hunter2secretvalue is no key'];
    const { ended, logs } = openLink(specOf('ends-with-words.mjs', {}, ['', args[1] ?? '', args[0] ?? '']));
    const ending = (await ended) as Failed;
    expect(ending.why).toBe('the last lines on stderr:\nError: [hidden] is no key');
    expect(JSON.stringify([ending, logs])).not.toContain('hunter2');
  });

  it('is redacted after its colours are removed, in the error and in the log', async () => {
    const words = 'bad super\u001B[0msecretvalue';
    const spec = specOf('ends-with-words.mjs', { env: { API_KEY: 'supersecretvalue' } }, ['', words]);
    const { ended, logs } = openLink(spec);
    const ending = (await ended) as Failed;
    expect(ending.why).toBe('the last lines on stderr:\nbad [redacted:API_KEY]');
    expect(logs).toContainEqual({ source: 'stderr', text: 'bad [redacted:API_KEY]' });
    expect(JSON.stringify([ending, logs])).not.toContain('super');
  });
});
