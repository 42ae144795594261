import { describe, expect, it } from 'vitest';
import type { LogEntry } from '../../../src/fleet/fleet.js';
import { filterLines, LogBuffer, type LogKind, MAX_LINES } from '../../../src/page/server/log-lines.js';

const entry = (text: string, more: Partial<LogEntry> = {}): LogEntry => ({
  time: '2026-01-01T00:00:00Z',
  level: 'info',
  server: 's',
  source: 'stderr',
  text,
  ...more,
});

const ALL: ReadonlySet<LogKind> = new Set(['output', 'mcp', 'toolherd']);

describe('the log of a server on the page', () => {
  it('a line that arrives while the log is read is there once', () => {
    const buffer = new LogBuffer();
    buffer.add([entry('a'), entry('b')]);
    buffer.fill([entry('a')]);
    buffer.add([entry('a')]);
    expect(buffer.lines.map(({ text }) => text)).toEqual(['a', 'b', 'a']);
  });

  it('the oldest lines are dropped', () => {
    const buffer = new LogBuffer();
    buffer.fill([]);
    buffer.add(Array.from({ length: MAX_LINES + 3 }, (_, index) => entry(String(index))));
    expect([buffer.lines.length, buffer.lines[0]!.text]).toEqual([MAX_LINES, '3']);
  });

  it('level, words and kind choose the lines', () => {
    const buffer = new LogBuffer();
    buffer.fill([
      entry('plain', { level: 'debug' }),
      entry('Connection LOST to db', { level: 'error' }),
      entry('hello', { source: 'my-logger', level: 'error' }),
      entry('started', { source: 'toolherd', level: 'warn' }),
    ]);
    const texts = (filter: object) =>
      filterLines(buffer.lines, { level: 'trace', search: '', kinds: ALL, ...filter }).map(
        ({ text }) => text,
      );
    expect(texts({ level: 'warn' })).toEqual(['Connection LOST to db', 'hello', 'started']);
    expect(texts({ search: 'lost DB' })).toEqual(['Connection LOST to db']);
    expect(texts({ kinds: new Set(['output']) })).toEqual(['plain', 'Connection LOST to db']);
    expect(texts({ kinds: new Set(['mcp']) })).toEqual(['hello']);
  });
});
