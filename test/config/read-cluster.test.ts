import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ServerSpec } from '../../src/config/fields/spec.js';
import { loadGlobal, makeHerd, problemsOf } from './support.js';

const SECRET = 'very-secret-0123456789';
const SERVERS = 'servers: ["nats://127.0.0.1:4222"]';
const config = (cluster: string, entries = '[]') =>
  `version: "1.0"\nmcp_servers: ${entries}\ncluster: ${cluster}\n`;
const entry = (fields: string, name = 'git') =>
  `{name: ${name}, description: d, server: s, command: npx, ${fields}}`;
const load = (cluster: string, env: Record<string, string> = {}) => loadGlobal(config(cluster), { env });
const messagesOf = async (cluster: string, entries?: string, env = {}) =>
  (await problemsOf({ config: config(cluster, entries), env })).map(
    ({ message, fix, line }) => `${line}: ${message}; ${fix}`,
  );

describe('cluster of a config', () => {
  it('is off by default', async () => {
    expect((await loadGlobal('version: "1.0"\n')).settings.cluster).toBeUndefined();
  });

  it('has defaults for everything but its servers; the node is named after the host', async () => {
    const herd = makeHerd({ config: config(`{${SERVERS}}`) });
    const { settings, warnings } = await herd.load({ hostName: 'gpu box.example.com' });
    expect(settings.cluster).toEqual({
      ...{ engine: 'nats', name: 'toolherd', servers: ['nats://127.0.0.1:4222'], node: 'gpu-box' },
      ...{ share: [], use: ['*'], credentials: undefined, tls: undefined },
    });
    expect(warnings).toEqual([]);
  });

  it('has its variables expanded; password and token are secrets, the name of the node is not', async () => {
    const env = { PASSWORD: SECRET, NODE: 'desk-with-a-name', HOST: 'nats.example.com' };
    const { settings, redactor } = await load(
      '{servers: ["tls://${HOST}:4222"], node: "${NODE}", credentials: {user: team, password: "${PASSWORD}"}}',
      env,
    );
    expect(settings.cluster).toMatchObject({
      ...{ servers: ['tls://nats.example.com:4222'], node: 'desk-with-a-name', tls: {} },
      credentials: { kind: 'user', user: 'team', password: SECRET },
    });
    expect(redactor.redact(`${SECRET} of desk-with-a-name`)).toBe('[redacted:PASSWORD] of desk-with-a-name');
  });

  it('has a plain token redacted, too', async () => {
    const { redactor } = await load(`{${SERVERS}, credentials: {token: ${SECRET}}}`);
    expect(redactor.redact(SECRET)).not.toContain(SECRET);
  });

  it('names files from the folder of the config', async () => {
    const files = { 'home/me.creds': 'x', 'home/ca.pem': 'x' };
    const text = config(`{${SERVERS}, credentials: me.creds, tls: {ca: ca.pem}}`);
    const { settings, home } = await loadGlobal(text, { files });
    expect(settings.cluster).toMatchObject({
      credentials: { kind: 'creds', file: join(home, 'me.creds') },
      tls: { ca: join(home, 'ca.pem') },
    });
  });

  it.each([
    ['[]', 'must be a map'],
    ['{}', "'servers' is required"],
    ['{servers: []}', 'must be a list with at least one url'],
    ['{servers: nats://x}', 'must be a list of urls'],
    [`{${SERVERS}, shared: []}`, "did you mean 'share'?"],
    ['{servers: ["http://x"]}', 'must be a url that begins with nats:// or tls://'],
    ['{servers: ["localhost:4222"]}', 'must be a url that begins with nats:// or tls://'],
    [`{servers: ["nats://me:${SECRET}@x"]}`, 'must not hold a user name or a password'],
    [`{${SERVERS}, engine: kafka}`, "'engine' must be one of nats"],
    [`{${SERVERS}, node: a.b}`, "'node' must be at most 32 letters"],
    [`{${SERVERS}, node: "\${BAD}"}`, "'cluster.node' must be at most 32 letters"],
    [`{${SERVERS}, name: "a b"}`, "'name' must be at most 32 letters"],
    [`{${SERVERS}, share: git}`, "'share' must be a list"],
    [`{${SERVERS}, credentials: [a]}`, "'credentials' must be the path of a .creds file, or"],
    [`{${SERVERS}, credentials: {pasword: x}}`, "did you mean 'password'?"],
    [`{${SERVERS}, credentials: {user: x}}`, "'credentials' must be one of"],
    [`{${SERVERS}, credentials: {token: x, nkey: y}}`, "'credentials' must be one of"],
    [`{${SERVERS}, credentials: {token: "\${UNSET}"}}`, "variable 'UNSET' not found"],
    [`{${SERVERS}, credentials: gone.creds}`, 'gone.creds does not exist'],
    [`{${SERVERS}, tls: {key: gone.pem}}`, 'gone.pem does not exist'],
    [`{${SERVERS}, tls: {kee: x}}`, "did you mean 'key'?"],
  ])('%s is refused with its reason and its line', async (cluster, message) => {
    const messages = await messagesOf(cluster, undefined, { BAD: 'a b' });
    expect(messages).toHaveLength(1);
    expect(messages[0]).toContain(message);
    expect(messages[0]).toMatch(/^3: /);
    expect(messages[0]).not.toContain(SECRET);
  });

  it('does not belong in an agent file, which comes with a project', async () => {
    const agent = `tools: []\ncluster: {${SERVERS}}\n`;
    const [problem] = await problemsOf({ config: 'version: "1.0"\n', agent });
    expect(problem).toMatchObject({ line: 2, fix: expect.stringContaining('config.yaml') });
    expect(problem?.message).toContain("'cluster' does not belong in an agent file");
  });

  it('is off in a daemon that lacks its variable, which is a warning: the herd runs', async () => {
    const herd = makeHerd({ config: config(`{${SERVERS}, credentials: {token: "\${UNSET}"}}`) });
    const { settings, warnings } = await herd.load({ reader: 'daemon' });
    expect(settings.cluster).toBeUndefined();
    expect(warnings).toMatchObject([{ message: "Environment variable 'UNSET' not found" }]);
  });

  it('warns of a password that may cross the network in plain text', async () => {
    const text = (server: string) => `{servers: ["${server}"], credentials: {token: ${SECRET}}}`;
    expect((await load(text('nats://nats.example.com'))).warnings).toMatchObject([
      { message: "'credentials' may cross the network in plain text", line: 3 },
    ]);
    expect((await load(text('tls://nats.example.com'))).warnings).toEqual([]);
    expect((await load(text('nats://localhost'))).warnings).toEqual([]);
  });
});

describe('the part of an entry in the cluster', () => {
  const CLUSTER = `{${SERVERS}, node: desk}`;
  const partsOf = async (entries: string, env = {}) =>
    (await loadGlobal(config(CLUSTER, entries), { env })).servers.map(({ cluster }) => cluster);
  const identityOf = async (fields: string, env = {}) =>
    (await partsOf(`[${entry(fields)}]`, env))[0]?.identity;

  it('says whether its place has this node, and whether calls are balanced', async () => {
    const entries = [entry('', 'a'), entry('place: ["d*"], cluster: true', 'b'), entry('place: [gpu]', 'c')];
    expect(await partsOf(`[${entries.join(', ')}]`)).toEqual([
      { identity: expect.any(String), balanced: false, isPlacedHere: true },
      { identity: expect.any(String), balanced: true, isPlacedHere: true },
      { identity: expect.any(String), balanced: false, isPlacedHere: false },
    ]);
  });

  it('has the defaults that the docs name', async () => {
    const written = `place: ["*"], cluster: false`;
    expect(await partsOf(`[${entry(written)}]`)).toEqual(await partsOf(`[${entry('')}]`));
  });

  it('is absent without a cluster, and for servers that agents do not share', async () => {
    expect(await partsOf(`[${entry('sharing: per-agent')}, ${entry('enabled: false', 'off')}]`)).toEqual([
      undefined,
      undefined,
    ]);
    const { servers } = await loadGlobal(`version: "1.0"\nmcp_servers: [${entry('')}]\n`);
    expect(servers[0]?.cluster).toBeUndefined();
  });

  it.each([
    ['args: ["${A}", "--token=one"], env: {KEY: one}', 'args: ["${A:-x}", "--token=two"], env: {KEY: two}'],
    ['config: {a: 1, b: 2, api_key: one}', 'config: {b: 2, a: 1, api_key: two}'],
    ['args: ["https://u:one@h/p?k=one"]', 'args: ["https://u:two@h/p?k=two"]'],
    ['replicas: 2, idle_timeout: 5, place: [desk]', 'max_restarts: 1, cluster: true, start: eager'],
    ['', 'lifecycle: singleton, tools: {allow: ["*"], deny: []}'],
  ])('has one identity for %s and %s', async (one, other) => {
    const first = await identityOf(one, { A: 'one' });
    expect(first).toMatch(/^[\w-]{22}$/);
    expect(await identityOf(other, { A: 'two' })).toBe(first);
  });

  it.each([
    ['args: [a]', 'args: [b]'],
    ['args: ["${A}"]', 'args: ["${B}"]'],
    ['env: {A: x}', 'env: {B: x}'],
    ['config: {a: 1}', 'config: {a: 2}'],
    ['lifecycle: transient', ''],
    ['tools: {deny: [x]}', ''],
  ])('has two identities for %s and %s', async (one, other) => {
    const env = { A: 'same', B: 'same' };
    expect(await identityOf(one, env)).not.toBe(await identityOf(other, env));
  });

  it('needs no variables and no files of an entry that another node runs', async () => {
    const entries = `[${entry('place: [gpu], env: {A: "${UNSET}"}, envFile: gone.env')}]`;
    const { servers, uses } = await loadGlobal(config(CLUSTER, entries));
    expect(servers).toMatchObject([{ enabled: true, cluster: { isPlacedHere: false } }] as ServerSpec[]);
    expect(uses).toEqual([]);
  });

  it('keeps an entry with a place from running in a daemon that does not know the name of its node', async () => {
    const text = config(`{${SERVERS}, node: "\${UNSET}"}`, `[${entry('place: [gpu]')}, ${entry('', 'b')}]`);
    const { servers } = await makeHerd({ config: text }).load({ reader: 'daemon' });
    expect(servers.map(({ cluster }) => cluster?.isPlacedHere)).toEqual([false, true]);
  });

  it.each(['place: [gpu]', 'cluster: true'])(
    '%s is refused in an agent file and with servers that agents do not share',
    async (fields) => {
      const field = fields.split(':')[0];
      const [inConfig] = await messagesOf(CLUSTER, `[${entry(`${fields}, sharing: per-agent`)}]`);
      expect(inConfig).toContain(`2: '${field}' needs sharing: shared`);
      const agent = `tools:\n  - {type: mcp, name: a, description: d, server: s, command: npx, ${fields}}\n`;
      const [inAgent] = await problemsOf({ config: config(CLUSTER), agent });
      expect(inAgent).toMatchObject({
        line: 2,
        message: `'${field}' belongs to entries of config.yaml: nodes of a cluster see only those`,
      });
    },
  );

  it('is of no effect without a cluster, which is a warning', async () => {
    const { servers, warnings } = await loadGlobal(
      `version: "1.0"\nmcp_servers: [${entry('place: [gpu]')}]\n`,
    );
    expect(servers[0]?.enabled).toBe(true);
    expect(warnings).toMatchObject([{ message: "'place' has no effect: this config has no cluster" }]);
  });

  it('lets profiles name servers of other nodes before they are known', async () => {
    const { warnings } = await loadGlobal(`${config(CLUSTER)}profiles: {a: {servers: [gpu-index]}}\n`);
    expect(warnings).toEqual([]);
  });
});
