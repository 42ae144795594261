import { describe, expect, it } from 'vitest';
import { errorOf, openLink, specOf } from '../../support.js';

describe('the MCP 2025 driver', () => {
  it("passes on the server's description, including unknown fields (FR-002)", async () => {
    const { opened } = openLink(specOf('asks.mjs'));
    expect(await opened).toEqual({
      protocolVersion: '2025-06-18',
      serverInfo: { name: 'asks', version: '1', unheardOf: true },
      capabilities: { tools: {}, unheardOf: { deep: 1 } },
      instructions: 'ask me',
    });
  });

  it('answers roots/list from the spec, and declares the capability', async () => {
    const roots = [{ uri: 'file:///work', name: 'work' }];
    const { tool } = openLink(specOf('asks.mjs', { roots }));
    expect(JSON.parse(await tool('ask', { method: 'roots/list' }))).toEqual({ result: { roots } });
    expect(JSON.parse(await tool('hello')).capabilities).toEqual({
      roots: { listChanged: false },
      sampling: {},
      elicitation: { form: {}, url: {} },
    });
  });

  it('refuses an unknown request with an error', async () => {
    const { tool } = openLink(specOf('asks.mjs'));
    for (const method of ['roots/list', 'no/such/thing', 'toString']) {
      const { error } = JSON.parse(await tool('ask', { method }));
      expect(error.code).toBe(-32601);
      expect(error.message).toContain(`toolherd cannot answer ${method} for asks`);
    }
    expect(JSON.parse(await tool('ask', { method: 'ping' }))).toEqual({ result: {} });
  });

  it('sends client info and the configuration (FR-011)', async () => {
    const { tool } = openLink(specOf('asks.mjs', { config: { level: 3 } }), {
      clientInfo: { name: 'toolherd', version: '1.2.3' },
    });
    expect(JSON.parse(await tool('hello'))).toMatchObject({
      clientInfo: { name: 'toolherd', version: '1.2.3' },
      _meta: { 'toolherd/config': { level: 3 } },
    });
  });
});

describe('a list', () => {
  it('is read to its last page, with bad items and unknown fields in it (U7)', async () => {
    const { link, opened } = openLink(specOf('pages.mjs'));
    await opened;
    const tools = await link.list('tools/list');
    expect(tools).toHaveLength(101);
    expect(tools[2]).toEqual({ name: 'bad', inputSchema: 'not a schema' });
    expect(tools.at(-1)).toMatchObject({ name: 'tool-99', unheardOf: 99 });
  });

  it('whose pages form a circle is an error', async () => {
    const { link, opened } = openLink(specOf('pages.mjs', {}, ['circle']));
    await opened;
    expect(await errorOf(link.list('tools/list'))).toMatchObject({
      type: 'MCPProtocolError',
      message: expect.stringContaining('its pages go in a circle'),
    });
  });
});
