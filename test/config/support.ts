import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import type { ServerSpec } from '../../src/config/fields/spec.js';
import { type Loaded, type LoadOptions, loadConfig } from '../../src/config/load.js';
import { ConfigError, type Problem } from '../../src/config/parse/problem.js';
import { AgentFileNotAllowedError, recordOf, TrustStore } from '../../src/config/trust/trust.js';
import { makeFolder } from '../support/folder.js';

export const HOME = '/home/someone';

/** The files and environment of a test. */
export interface Setting {
  /** The text of project/agent.yaml; undefined: no agent file. */
  agent?: string;
  /** The text of home/config.yaml; undefined: no global config. */
  config?: string;
  /** Further files, by their path: `project/.env`, `home/plugins/a/plugin.json`. */
  files?: Record<string, string>;
  env?: Record<string, string | undefined>;
}

export interface Herd {
  folder: string;
  project: string;
  home: string;
  agentFile: string;
  configFile: string;
  trustFile: string;
  options: LoadOptions;
  load(overrides?: Partial<LoadOptions>): Promise<Loaded>;
}

/** A project and a home with their files. Trust is checked only when a test passes `trustFile`. */
export function makeHerd({ agent, config, files = {}, env = {} }: Setting): Herd {
  const folder = makeFolder(files);
  const [project, home] = [join(folder, 'project'), join(folder, 'home')];
  const [agentFile, configFile] = [join(project, 'agent.yaml'), join(home, 'config.yaml')];
  mkdirSync(project, { recursive: true });
  mkdirSync(home, { recursive: true });
  if (agent !== undefined) writeFileSync(agentFile, agent);
  if (config !== undefined) writeFileSync(configFile, config);
  const options: LoadOptions = {
    configFile,
    agentFile: agent === undefined ? undefined : agentFile,
    userFolder: home,
    trustFile: undefined,
    environment: env,
    userHome: HOME,
  };
  const trustFile = join(folder, 'state', 'trust.json');
  const load = (overrides = {}) => loadConfig({ ...options, ...overrides });
  return { folder, project, home, agentFile, configFile, trustFile, options, load };
}

export interface LoadedHerd extends Loaded, Pick<Herd, 'project' | 'home' | 'agentFile' | 'configFile'> {}

export async function loadHerd(setting: Setting): Promise<LoadedHerd> {
  const herd = makeHerd(setting);
  const { project, home, agentFile, configFile } = herd;
  return { ...(await herd.load()), project, home, agentFile, configFile };
}

export function loadAgent(agent: string, setting: Omit<Setting, 'agent'> = {}): Promise<LoadedHerd> {
  return loadHerd({ ...setting, agent });
}

export function loadGlobal(config: string, setting: Omit<Setting, 'config'> = {}): Promise<LoadedHerd> {
  return loadHerd({ ...setting, config });
}

/** The one server of a herd. */
export function only({ servers }: Pick<Loaded, 'servers'>): ServerSpec {
  expect(servers).toHaveLength(1);
  return servers[0]!;
}

export function stdioOf(loaded: Pick<Loaded, 'servers'>): Extract<ServerSpec, { transport: 'stdio' }> {
  const server = only(loaded);
  if (server.transport !== 'stdio') throw new Error(`a ${server.transport} server`);
  return server;
}

export function remoteOf(loaded: Pick<Loaded, 'servers'>): Exclude<ServerSpec, { transport: 'stdio' }> {
  const server = only(loaded);
  if (server.transport === 'stdio') throw new Error('a stdio server');
  return server;
}

/** The ConfigError that a load must throw. Any other outcome fails the test. */
export async function refusalOf(load: Promise<unknown>): Promise<ConfigError> {
  const error = await load.then(
    () => expect.fail('it was accepted'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof ConfigError)) throw error;
  return error;
}

export async function problemsOf(setting: Setting): Promise<readonly Problem[]> {
  return (await refusalOf(makeHerd(setting).load())).problems;
}

export async function trustRefusalOf(load: Promise<unknown>): Promise<AgentFileNotAllowedError> {
  const error = await load.then(
    () => expect.fail('it was accepted'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof AgentFileNotAllowedError)) throw error;
  return error;
}

/** What `toolherd allow` does after the user's confirmation. */
export async function allow(herd: Herd, agentFile = herd.agentFile): Promise<void> {
  const { agent } = await herd.load({ agentFile, trustFile: undefined, variables: 'lenient' });
  await new TrustStore(herd.trustFile).allow(agentFile, await recordOf(agent!.text, agent!.planned));
}

export function addFile(path: string, text: string, mode?: number): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  if (mode !== undefined) chmodSync(path, mode);
  return path;
}

const indent = (lines: readonly string[]) => lines.map((line) => `    ${line}\n`).join('');

/** An agent.yaml with one stdio server, and these lines in its entry. */
export function stdioAgent(...lines: string[]): string {
  return `tools:\n  - name: a\n    description: d\n    type: mcp\n    server: s\n    command: npx\n${indent(lines)}`;
}

/** An agent.yaml with one remote server, and these lines in its entry. */
export function remoteAgent(transport: 'sse' | 'http' | 'websocket', ...lines: string[]): string {
  const url = transport === 'websocket' ? 'wss://example.com/ws' : 'https://example.com/mcp';
  const head = `tools:\n  - name: a\n    description: d\n    type: mcp\n    server: s\n    transport: ${transport}\n`;
  const hasUrl = lines.some((line) => /^‸?url:/.test(line));
  return head + (hasUrl ? '' : `    url: ${url}\n`) + indent(lines);
}

/** A config.yaml with one stdio server, and these lines in its entry. */
export function stdioConfig(...lines: string[]): string {
  return `version: "1.0"\nmcp_servers:\n  - name: a\n    description: d\n    server: s\n    command: npx\n${indent(lines)}`;
}

/** The defaults of every transport, durations in milliseconds. */
const COMMON_DEFAULTS = {
  registryName: undefined,
  enabled: true,
  env: {},
  config: undefined,
  roots: [],
  loadTools: true,
  loadPrompts: true,
  requestTimeoutMs: 60_000,
  maxTimeoutMs: 600_000,
  sharing: 'shared',
  replicas: 1,
  start: 'lazy',
  idleTimeoutMs: 0,
  restart: 'on-failure',
  maxRestarts: 5,
  restartWindowMs: 60_000,
  backoff: { minMs: 500, maxMs: 30_000, factor: 2, jitter: 0.2 },
  healthyAfterMs: 30_000,
  ping: { intervalMs: 15_000, timeoutMs: 10_000 },
  tools: { allow: ['*'], deny: [] },
  maxMessageBytes: 64 * 1024 * 1024,
  maxInFlight: 256,
  resultLimit: 0,
};

export const STDIO_DEFAULTS = {
  ...COMMON_DEFAULTS,
  transport: 'stdio',
  args: [],
  encoding: 'utf-8',
  startTimeoutMs: 120_000,
  lifecycle: 'singleton',
  spares: 0,
  stop: { closeMs: 2000, termMs: 5000 },
  maxRss: 0,
};

/** A remote server has no limit of restarts. */
const REMOTE_DEFAULTS = { ...COMMON_DEFAULTS, maxRestarts: Number.POSITIVE_INFINITY };

export const SSE_DEFAULTS = {
  ...REMOTE_DEFAULTS,
  transport: 'sse',
  headers: {},
  timeoutMs: 30_000,
  sseReadTimeoutMs: 300_000,
};

export const HTTP_DEFAULTS = { ...SSE_DEFAULTS, transport: 'http', terminateOnClose: true };

export const WEBSOCKET_DEFAULTS = {
  ...REMOTE_DEFAULTS,
  transport: 'websocket',
  headers: {},
  timeoutMs: 30_000,
};

/** The value of a default in the docs as YAML; undefined for one in words. */
export function yamlOf(text: string): string | undefined {
  const value = text
    .replace(/ \(.*\)$/, '')
    .replace(/^(\d+) MiB$/, (_, count) => String(Number(count) * 2 ** 20));
  const isWords = /^(required|none|off|no limit)$/.test(value) || /^[a-z][\w.]* [\w ]/.test(value);
  return isWords ? undefined : value;
}
