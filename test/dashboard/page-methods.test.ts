import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TrustStore } from '../../src/config/trust/trust.js';
import { findPaths } from '../../src/shared/files/paths.js';
import { startRegistry } from '../registry/server.js';
import * as shapes from '../registry/shapes.js';
import { servePage } from './served-page.js';

const AGENT = `tools:
  - name: files
    description: d
    type: mcp
    server: s
    command: npx
    args: [-y, files-server]
    env: {TOKEN: "\${FILES_TOKEN}"}
`;

async function open(variables: Record<string, string> = {}) {
  const served = await servePage({ variables });
  const { folder, connect } = served;
  const configFile = join(folder, 'config.yaml');
  writeFileSync(
    configFile,
    'version: "1.0"\nmcp_servers:\n  - {name: a, description: d, server: s, command: npx}\n',
  );
  const project = join(folder, 'project');
  mkdirSync(project);
  const agentFile = join(project, 'agent.yaml');
  writeFileSync(agentFile, AGENT);
  const store = new TrustStore(findPaths({ TOOLHERD_HOME: folder }, folder).trustFile);
  return { ...served, configFile, agentFile, store, client: await connect() };
}

describe('page/config', () => {
  it('tells where each server is written, what a reload would change, and what is wrong', async () => {
    const { client, configFile, fleet } = await open();
    const { result } = await client.request('page/config');
    expect(result).toMatchObject({
      file: configFile,
      problems: [],
      config_error: null,
      plan: { added: ['x'], unchanged: ['a'] },
      entries: [{ server: 'a', file: configFile, line: 3 }],
      trust: [],
    });
    expect(fleet.heard).toContainEqual(['reload', true]);
    writeFileSync(configFile, 'version: "1.0"\nmcp_servers:\n  - {name: a, comand: npx, server: s}\n');
    const { problems } = (await client.request('page/config')).result;
    expect(problems[0]).toMatchObject({
      file: configFile,
      line: 3,
      message: expect.stringContaining('comand'),
    });
  });

  it('shows what a refused agent file would run, in the words of allow, and no value', async () => {
    const { client, agentFile, refused } = await open();
    refused.push(agentFile);
    const [file] = (await client.request('page/config')).result.trust;
    expect(file).toMatchObject({ file: agentFile, status: 'not allowed', problem: null });
    expect(file.servers).toMatchObject([
      { name: 'files', run: ['npx', '-y', 'files-server'], env: ['TOKEN'], variables: ['FILES_TOKEN'] },
    ]);
    expect(file.would_run).toContain('    runs         npx -y files-server');
  });

  it('lists an agent file that is gone or wrong, and says why it cannot be read', async () => {
    const { client, agentFile, refused } = await open();
    refused.push(agentFile);
    writeFileSync(agentFile, 'tools: [');
    const [file] = (await client.request('page/config')).result.trust;
    expect(file).toMatchObject({ status: 'unreadable', digest: null, problem: expect.stringMatching(/./) });
  });
});

describe('page/allow and page/revoke', () => {
  it('allow exactly what the page showed, and undo it', async () => {
    const { client, agentFile, refused, store, fleet } = await open();
    refused.push(agentFile);
    const shown = async () => (await client.request('page/config')).result.trust[0];
    const { digest } = await shown();
    writeFileSync(agentFile, AGENT.replace('files-server', 'another-server'));
    const { error } = await client.request('page/allow', { file: agentFile, digest });
    expect(error.message).toContain('has changed since this page showed it');
    expect(store.files()).toEqual([]);
    const { result } = await client.request('page/allow', {
      file: agentFile,
      digest: (await shown()).digest,
    });
    expect(result).toMatchObject({ ok: true, file: agentFile });
    expect(store.files()).toEqual([agentFile]);
    expect(fleet.heard).toContainEqual(['reload', undefined]);
    expect(await shown()).toMatchObject({ status: 'allowed' });
    const revoked = await client.request('page/revoke', { file: agentFile });
    expect(revoked.result).toEqual({ ok: true, file: agentFile, was_allowed: true });
    expect(store.files()).toEqual([]);
  });

  it('refuse a file that no client asked for, and a path that is not full', async () => {
    const { client, agentFile } = await open();
    const params = { file: agentFile, digest: 'x' };
    expect((await client.request('page/allow', params)).error.message).toContain('no client has asked for');
    const relative = await client.request('page/revoke', { file: 'agent.yaml' });
    expect(relative.error).toMatchObject({ code: -32602 });
  });
});

describe('page/add', () => {
  it('adds a server to the global config, with the answer of the command', async () => {
    const { client, configFile, fleet } = await open();
    const before = readFileSync(configFile, 'utf8');
    const source = { name: 'memory', command: ['npx', '-y', 'memory-server'], env: ['KEY=${KEY}'] };
    const dry = (await client.request('page/add', { ...source, dry_run: true })).result;
    expect(dry).toMatchObject({ ok: true, dry_run: true, name: 'memory', file: configFile });
    expect(dry.diff).toContain('+  - name: memory');
    expect(readFileSync(configFile, 'utf8')).toBe(before);
    const { result } = await client.request('page/add', source);
    expect(result).toMatchObject({ ok: true, dry_run: false, scope: 'global' });
    expect(readFileSync(configFile, 'utf8')).toContain('memory-server');
    expect(fleet.heard).toContainEqual(['reload', undefined]);
  });

  it('refuses what the command refuses, in its words', async () => {
    const { client } = await open();
    const taken = await client.request('page/add', { name: 'a', command: ['npx', 'x'] });
    expect(taken.error.data).toMatchObject({ type: 'DuplicateError' });
    const command = await client.request('page/add', { name: 'b', command: ['rm', '-rf'] });
    expect(command.error.message).toContain("Invalid command 'rm'");
    const both = await client.request('page/add', { name: 'b', command: ['npx'], url: 'https://x.example' });
    expect(both.error).toMatchObject({ code: -32602, data: { type: 'UsageError' } });
  });
});

describe('the registry on the page', () => {
  it('is searched and shown as the command does it, and a server of it is added', async () => {
    const registry = await startRegistry([shapes.context7, shapes.github]);
    const { client, configFile } = await open({ TOOLHERD_REGISTRY: registry.url });
    const { servers } = (await client.request('page/registry_search', { query: 'context' })).result;
    expect(servers).toMatchObject([
      { name: 'io.github.upstash/context7', version: '1.0.31', by: ['npm', 'http'] },
    ]);
    const name = 'io.github.upstash/context7';
    const { server } = (await client.request('page/registry_show', { name })).result;
    expect(server.ways[0]).toMatchObject({ by: 'npm', command: 'npx' });
    const { result } = await client.request('page/add', { name });
    expect(result).toMatchObject({ ok: true, name: 'context7', registry_name: name });
    expect(readFileSync(configFile, 'utf8')).toContain('registry_name: io.github.upstash/context7');
    const absent = await client.request('page/registry_show', { name: 'context7' });
    expect(absent.error.data.fix).toContain('use the full name');
  });

  it('answers from its cache while it cannot be reached, and notes it', async () => {
    const registry = await startRegistry([shapes.context7]);
    const { client } = await open({ TOOLHERD_REGISTRY: registry.url });
    await client.request('page/registry_search', { query: 'context' });
    await registry.close();
    const { result } = await client.request('page/registry_search', { query: 'context' });
    expect(result.servers).toHaveLength(1);
    expect(result.notes).toEqual([expect.stringContaining('showing its answer of')]);
  });
});
