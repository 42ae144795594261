import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { config, server } from '../faults/config.js';
import { toolherd } from '../support/command.js';
import { startHerd, until } from '../support/herd.js';

it('D18: the JSON-RPC error of a server has its code and data in the result, the log and the audit file', async () => {
  const { home, fleet } = await startHerd(
    config([server('good', 'good.mjs', { env: { KEY: 'field-x-secret' } })]),
  );
  const { error } = await fleet.call({ server: 'good', tool: 'refuse' });
  expect(error).toMatchObject({ type: 'MCPProtocolError', sent: true, code: -32602, data: { field: 'x' } });
  const unknown = await fleet.call({ server: 'good', tool: 'absent' });
  expect(unknown.error).not.toHaveProperty('code');
  const said = 'it answered tools/call of refuse with error -32602: no; data: {"field":"x"}';
  await until(async () => {
    const run = { cwd: home.folder, env: home.environment };
    return (await toolherd(['logs', 'good'], run)).stdout.includes(said);
  });
  const { daemon } = await fleet.status();
  const file = daemon.audit?.file ?? join(home.folder, 'absent');
  await until(() => existsSync(file));
  const records = () =>
    readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { tool: string; code: number | null });
  await until(() => records().length === 2);
  expect(records().map(({ tool, code }) => [tool, code])).toEqual([
    ['refuse', -32602],
    ['absent', null],
  ]);
});

it('D18: the error of a server of 2026-07-28 has its code in the result and in the log', async () => {
  const { home, fleet } = await startHerd(config([server('modern', 'modern.mjs', { load_tools: false })]));
  const { error } = await fleet.call({ server: 'modern', tool: 'absent' });
  expect((await fleet.status()).servers[0]?.protocol_version).toBe('2026-07-28');
  expect(error).toMatchObject({ type: 'MCPProtocolError', sent: true, code: -32602 });
  const run = { cwd: home.folder, env: home.environment };
  await until(async () =>
    (await toolherd(['logs', 'modern'], run)).stdout.includes(
      'it answered tools/call of absent with error -32602',
    ),
  );
});

it('data of an error that is nested deeper than a stack loses neither the call nor its record', async () => {
  const { fleet } = await startHerd(config([server('good', 'good.mjs')]));
  const { error } = await fleet.call({ server: 'good', tool: 'refuse', arguments: { depth: 4000 } });
  expect(error).toMatchObject({ type: 'MCPProtocolError', sent: true, code: -32602 });
  expect(JSON.stringify(error?.data)).toContain('nested too deep');
  expect((await fleet.status()).servers).toMatchObject([{ calls: 1, failures: 1 }]);
});
