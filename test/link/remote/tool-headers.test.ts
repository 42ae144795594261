import { describe, expect, it } from 'vitest';
import { ToolHeaders } from '../../../src/link/remote/tool-headers.js';

const region = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };
const call = (name: string) => ({ method: 'tools/call', params: { name, arguments: { region: 'eu' } } });

function stage() {
  const logs: string[] = [];
  const headers = new ToolHeaders((text) => logs.push(text));
  const list = (id: number, tools: unknown) => {
    headers.asked(id, { method: 'tools/list' });
    return headers.heard({ id, result: { tools, nextCursor: 'x' } }).result;
  };
  return { headers, logs, list };
}

describe('what tools want as headers', () => {
  it('is learnt from the lists that pass by, and forgotten with the next', () => {
    const { headers, list } = stage();
    expect(headers.of(call('find'))).toEqual({});
    list(1, [{ name: 'find', inputSchema: region }]);
    expect(headers.of(call('find'))).toEqual({ 'Mcp-Param-Region': 'eu' });
    expect(headers.of(call('other'))).toEqual({});
    list(2, [{ name: 'find', inputSchema: { type: 'object' } }]);
    expect(headers.of(call('find'))).toEqual({});
  });

  it('that is forbidden takes its tool out of the list, and says so; the others stay, also what is no tool', () => {
    const { list, logs } = stage();
    const bad = { type: 'object', properties: { a: { type: 'object', 'x-mcp-header': 'A' } } };
    expect(list(1, [{ name: 'bad', inputSchema: bad }, { name: 'good' }, 7])).toEqual({
      tools: [{ name: 'good' }, 7],
      nextCursor: 'x',
    });
    expect(logs).toEqual([expect.stringContaining("tool 'bad' is left out")]);
  });

  it('is looked for in no other reply, nor in one that nobody waits for', () => {
    const { headers, list } = stage();
    const reply = { id: 9, result: { tools: [{ name: 'find', inputSchema: region }] } };
    expect(headers.heard(reply)).toBe(reply);
    headers.asked(9, { method: 'tools/list' });
    headers.lost(9);
    headers.heard(reply);
    expect([headers.of(call('find')), list(3, 'nonsense')]).toEqual([
      {},
      { tools: 'nonsense', nextCursor: 'x' },
    ]);
  });
});
