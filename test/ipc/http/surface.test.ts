import { expect, it } from 'vitest';
import { config, server } from '../../faults/config.js';
import { startHerd } from '../../support/herd.js';
import { HttpClient, type Json } from './support.js';

const VERSION = '2026-07-28';
const OWN = ['search_tools', 'describe_tools', 'call_tool', 'read_result'];
const metaOf = (name: string) => ({
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name, version: '1' },
});

/** A client of 2026-07-28: every request is a connection. */
function clientOf(socketPath: string, path: string, client = 'test') {
  const http = new HttpClient({ socketPath }, path);
  return async (method: string, params: Json = {}): Promise<Json> => {
    const headers = {
      'MCP-Protocol-Version': VERSION,
      'Mcp-Method': method,
      ...(params.name !== undefined && { 'Mcp-Name': params.name }),
    };
    const body = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: metaOf(client) } };
    return (await http.post(body, headers)).json();
  };
}
const namesOf = ({ result }: Json): string[] => result.tools.map(({ name }: Json) => name);

it('?surface=search lists the tools of toolherd, and a later request pages what another one cut', async () => {
  const { home } = await startHerd(
    config([server('lawful', 'lawful.mjs')], { surface: { result_limit: 500 } }),
  );
  const ask = clientOf(home.socket, '/mcp?surface=search');
  expect(namesOf(await ask('tools/list'))).toEqual(OWN);
  const { result } = await ask('tools/call', {
    name: 'call_tool',
    arguments: { name: 'lawful__long', arguments: { lines: 100 } },
  });
  const [, id] = /"id":"([0-9a-f]+)"/.exec(result.content[0].text) ?? [];
  const page = await ask('tools/call', { name: 'read_result', arguments: { id, match: 'line 77 ' } });
  expect(page.result.content[0].text).toContain('77: line 77 of many');
  const other = clientOf(home.socket, '/mcp?surface=search', 'other');
  const stolen = await other('tools/call', { name: 'read_result', arguments: { id } });
  expect(stolen.result.isError).toBe(true);
  const refused = await clientOf(home.socket, '/mcp?surface=none')('tools/list');
  expect(refused.error.message).toContain('surface');
});

it('a client without a session keeps searching after its herd became small', async () => {
  const daemon = { surface: { above_tokens: 300 } };
  const both = [server('good', 'good.mjs'), server('lawful', 'lawful.mjs')];
  const { home, fleet } = await startHerd(config(both, daemon));
  const ask = clientOf(home.socket, '/mcp');
  expect(namesOf(await ask('tools/list'))).toEqual(OWN);
  home.configure(config(both.slice(0, 1), daemon));
  await fleet.reload();
  expect(namesOf(await ask('tools/list'))).toEqual(OWN);
  const late = clientOf(home.socket, '/mcp', 'late');
  expect(namesOf(await late('tools/list'))).toContain('good__echo');
});
