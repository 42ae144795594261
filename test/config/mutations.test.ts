import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readAgentFile, readConfigFile } from '../../src/config/config-file.js';
import { launchCommand } from '../../src/config/entry/launch-command.js';
import { resolveEntry } from '../../src/config/entry/resolve.js';
import { fileSchema } from '../../src/config/json-schema.js';
import { loadConfig } from '../../src/config/load.js';
import { parseYaml } from '../../src/config/parse/parse-yaml.js';
import { ConfigError, type Problem } from '../../src/config/parse/problem.js';
import { AgentFileNotAllowedError } from '../../src/config/trust/trust.js';
import { Redactor } from '../../src/shared/secrets/redactor.js';
import { CONTRACT, DATA_MODEL, PLUGIN_MANIFEST, SECTIONS, VARIABLES } from './examples.js';
import { Dice, mutate } from './mutations.js';

type Kind = 'agent' | 'config';

/** Each number is a seed. The suite checks the first ones, the long run all. */
const FILES = process.env.TOOLHERD_LONG ? 20_000 : 5000;
const BATCH = 1000;

const RICH = `  - name: rich
    description: everything at once
    server: s
    command: docker
    args: [run, -i, "\${SET}"]
    env: {A: "\${SET}", B: "2"}
    envFile: .env
    request_timeout: 30
    backoff: {min: 1, max: 10}
    ping: {interval: 5}
    stop: {close: 1, term: 2}
    tools: {allow: ["read_*"], deny: []}
    roots: [data]
    lifecycle: transient
    spares: 1
`;

const BASES: Record<Kind, readonly string[]> = {
  agent: [
    ...Object.values(DATA_MODEL),
    ...Object.values(CONTRACT),
    ...Object.values(SECTIONS),
    `tools:\n${RICH.replace('    server', '    type: mcp\n    server')}  - {name: v, type: vectorstore, source: x}\n`,
    'tools:\n  - name: plug\n    type: mcp\n    server: s\n    plugin_dir: p\n    runtime_hint: uvx\n',
    'base: &base\n  type: mcp\n  server: s\n  command: npx\ntools:\n  - <<: *base\n    name: a\n  - <<: *base\n    name: b\n',
  ],
  config: [
    `version: "1.0"\nmcp_servers:\n${RICH}`,
    `version: 1.0\ndaemon:\n  http: {listen: "127.0.0.1:80", token: auto}\n  log_level: info\n  max_starting: 2\nsecurity:\n  allowed_commands: [deno]\n  allow_http: [intra]\n  trust: ask\nmcp_servers:\n  - {name: a, server: s, command: deno}\n  - {name: b, server: s, transport: http, url: "http://intra"}\n`,
    'version: "1.0"\nmcp_servers:\n  - name: src\n    source_type: mcp\n    url: mcp://x\n    mcp_plugin_dir: p\n    mcp_lifecycle_mode: singleton\n    mcp_env_vars: {GITHUB_TOKEN: abcdef}\n  - {name: far, source_type: mcp, mcp_server_url: "https://a.b", mcp_transport_type: streamable_http}\n',
  ],
};
const ALL_BASES = [...BASES.agent, ...BASES.config];

const ENVIRONMENT = { ...VARIABLES, SET: 'value' };
const ajv = new Ajv2020({ strict: false });
const isAllowed = { agent: ajv.compile(fileSchema('agent')), config: ajv.compile(fileSchema('config')) };

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'toolherd-mutants-'));
  mkdirSync(join(folder, 'p'));
  writeFileSync(join(folder, 'p/plugin.json'), PLUGIN_MANIFEST);
  writeFileSync(join(folder, '.env'), 'FROM_FILE=1\n');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The steps of loadConfig for one text, without a file for it. Throws a ConfigError. */
async function loadText(kind: Kind, text: string): Promise<void> {
  const problems: Problem[] = [];
  const report = (problem: Problem) => void problems.push(problem);
  const document = parseYaml(join(folder, `${kind}.yaml`), text);
  const place = { scope: 'agent' as const, folder, userHome: folder };
  const context = { ...place, isUserOwned: false, allowedCommands: [], allowHttp: [] };
  const entries =
    kind === 'agent'
      ? readAgentFile(document, context, report, () => {})
      : readConfigFile(document, place, report, () => {}).entries;
  const loadEnvironment = {
    environment: ENVIRONMENT,
    userHome: '/',
    redactor: new Redactor(),
    variables: 'strict' as const,
    reader: 'command' as const,
  };
  for (const entry of entries) {
    if (entry.isBroken || entry.fields.enabled === false) continue;
    const launch = entry.transport === 'stdio' ? launchCommand(entry, report) : undefined;
    if (entry.transport !== 'stdio' || launch !== undefined)
      await resolveEntry(entry, launch, loadEnvironment, report);
  }
  if (problems.length > 0) throw new ConfigError(problems);
}

async function loadFile(kind: Kind, text: string, trustFile: string | undefined): Promise<void> {
  const file = join(folder, `${kind}.yaml`);
  writeFileSync(file, text);
  await loadConfig({
    configFile: kind === 'config' ? file : join(folder, 'none.yaml'),
    agentFile: kind === 'agent' ? file : undefined,
    userFolder: join(folder, 'none'),
    trustFile,
    environment: ENVIRONMENT,
    userHome: '/',
  });
}

type Verdict = 'accepted' | 'refused' | 'not allowed';

async function verdictOf(load: () => Promise<void>): Promise<Verdict> {
  try {
    await load();
    return 'accepted';
  } catch (error) {
    if (error instanceof AgentFileNotAllowedError) return 'not allowed';
    if (error instanceof ConfigError && error.problems.length > 0) return 'refused';
    throw error;
  }
}

/** A single slow run may be the fault of the machine; a slow file is slow again. */
async function isSlow(load: () => Promise<Verdict>): Promise<boolean> {
  for (let tries = 0; tries < 3; tries++) {
    const started = performance.now();
    await load();
    if (performance.now() - started < 1000) return false;
  }
  return true;
}

async function check(seed: number, tally: Map<Verdict, number>): Promise<void> {
  const dice = new Dice(seed);
  const kind: Kind = dice.below(4) === 0 ? 'config' : 'agent';
  const text = mutate(dice.pick(BASES[kind]), dice, ALL_BASES);
  const about = `seed ${seed}, ${kind}:\n${text}`;
  const withText = () => verdictOf(() => loadText(kind, text));
  const started = performance.now();
  const verdict = await withText().catch((cause: unknown) => {
    throw new Error(`crashed with ${about}`, { cause });
  });
  if (performance.now() - started > 1000) expect(await isSlow(withText), `slow: ${about}`).toBe(false);
  if (verdict === 'accepted' && !isAllowed[kind](parseYaml('f', text).value)) {
    expect.fail(`accepted against the schema (${ajv.errorsText(isAllowed[kind].errors)}): ${about}`);
  }
  tally.set(verdict, (tally.get(verdict) ?? 0) + 1);
  // One in eight is also loaded from a file, one in eighty with trust.
  if (seed % 8 !== 0) return;
  const fromFile = await verdictOf(() => loadFile(kind, text, undefined)).catch((cause: unknown) => {
    throw new Error(`crashed with the file of ${about}`, { cause });
  });
  expect(fromFile, about).toBe(verdict);
  if (seed % 80 !== 0) return;
  const asked = await verdictOf(() => loadFile(kind, text, join(folder, 'state', 'trust.json')));
  if (asked === 'refused') expect(verdict, about).toBe('refused');
  if (kind === 'config') expect(asked, about).toBe(verdict);
  expect(existsSync(join(folder, 'state')), 'loading allows nothing').toBe(false);
}

describe(`SC-004 FR-026: ${FILES} mutated files`, () => {
  const tally = new Map<Verdict, number>();

  it.each(ALL_BASES)('the files that are mutated are good ones: %#', async (text) => {
    const kind = BASES.agent.includes(text) ? 'agent' : 'config';
    expect(await verdictOf(() => loadFile(kind, text, undefined))).toBe('accepted');
    expect(await verdictOf(() => loadText(kind, text))).toBe('accepted');
  });

  it.each(Array.from({ length: FILES / BATCH }, (_, batch) => batch * BATCH))(
    'never crash, never take over a second, never pass against the schema: %i and on',
    { timeout: 240_000 },
    async (first) => {
      for (let seed = first; seed < first + BATCH; seed++) await check(seed, tally);
    },
  );

  it('many were accepted and many refused', () => {
    const [accepted = 0, refused = 0] = [tally.get('accepted'), tally.get('refused')];
    expect(accepted + refused).toBe(FILES);
    expect(accepted / FILES).toBeGreaterThan(0.15);
    expect(refused / FILES).toBeGreaterThan(0.3);
  });
});
