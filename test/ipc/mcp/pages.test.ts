import { describe, expect, it } from 'vitest';
import { PAGE_SIZE, pageOf } from '../../../src/ipc/mcp/pages.js';

const list = Array.from({ length: PAGE_SIZE * 2 }, (_, index) => `tool-${index}`);
const self = (name: string) => name;

describe('a page', () => {
  const { items, nextCursor } = pageOf(list, self, undefined);

  it('ends where the next one begins, and the last one has no cursor', () => {
    const next = pageOf(list, self, nextCursor);
    expect([...items, ...next.items]).toEqual(list);
    expect(next.nextCursor).toBeUndefined();
    expect(pageOf([], self, undefined)).toEqual({ items: [] });
  });

  it('leaves nothing out when entries came or went before it', () => {
    const first = `tool-${PAGE_SIZE}`;
    expect(pageOf(['new', ...list], self, nextCursor).items[0]).toBe(first);
    expect(pageOf(list.slice(10), self, nextCursor).items[0]).toBe(first);
    const without = list.filter((name) => name !== `tool-${PAGE_SIZE - 1}`);
    expect(pageOf(without, self, nextCursor).items[0]).toBe(first);
    expect(pageOf([], self, nextCursor)).toEqual({ items: [] });
  });

  it.each(['', 'x', 'bnVsbA', 'e30', 7])('is refused for the unknown cursor %j', (cursor) => {
    expect(() => pageOf(list, self, cursor)).toThrow("'cursor'");
  });
});
