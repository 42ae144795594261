// The clients of `npm run interop`, each as its makers publish it. A client is `{name, package, node?, open}`;
// what `open` gives has one function for each thing that the client can do. Each returns what the client showed.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { execa } from 'execa';

/**
 * Where a client runs, and the config file that names the bridge.
 * @typedef {{ folder: string, node: string, home: string, environment: Record<string, string>, config: string }} Place
 */
/**
 * What a client can do. Each function resolves with what the client showed.
 * @typedef {object} Opened
 * @property {() => string | undefined} speaks
 * @property {() => Promise<any[]>} tools
 * @property {(name: string, args: object) => Promise<any>} call
 * @property {() => Promise<any[]>} resources
 * @property {(uri: string) => Promise<any>} read
 * @property {() => Promise<any[]>} [prompts]
 * @property {(name: string, args: object) => Promise<any>} [get]
 * @property {() => string | undefined} [instructions]
 * @property {() => unknown} close
 */
/** @typedef {{ name: string, package: string, node?: string, open(place: Place): Promise<Opened> }} Client */

const MODERN = '2026-07-28';
const UNSAID = 'it does not say';
const ABOUT = { name: 'interop', version: '1.0.0' };
const SDK_V1 = '@modelcontextprotocol/sdk@1.32.2';
const SDK_V2 = '@modelcontextprotocol/client@2.4.0';
const INSPECTOR = '@modelcontextprotocol/inspector@2.12.0';
const MCPORTER = 'mcporter@0.12.3';

/** @type {Client[]} */
export const CLIENTS = [
  { name: 'SDK v1', package: SDK_V1, open: openSdkV1 },
  { name: 'SDK v2, legacy', package: SDK_V2, open: (place) => openSdkV2(place, 'legacy') },
  { name: 'SDK v2, auto', package: SDK_V2, open: (place) => openSdkV2(place, 'auto') },
  { name: `SDK v2, ${MODERN}`, package: SDK_V2, open: (place) => openSdkV2(place, { pin: MODERN }) },
  { name: 'Inspector CLI, legacy', package: INSPECTOR, node: '24', open: openInspector('legacy') },
  { name: 'Inspector CLI, modern', package: INSPECTOR, node: '24', open: openInspector('modern') },
  { name: 'mcporter', package: MCPORTER, node: '24', open: openMcporter },
];

/**
 * @param {string} folder
 * @param {string} module
 */
async function load(folder, module) {
  return import(pathToFileURL(createRequire(join(folder, 'x.js')).resolve(module)).href);
}

/**
 * @param {Place} place
 * @returns {Promise<Opened>}
 */
async function openSdkV1({ folder, home, environment }) {
  const { Client } = await load(folder, '@modelcontextprotocol/sdk/client/index.js');
  const { StdioClientTransport } = await load(folder, '@modelcontextprotocol/sdk/client/stdio.js');
  const client = new Client(ABOUT);
  const transport = new StdioClientTransport({ ...bridge(environment), cwd: home, stderr: 'ignore' });
  /** @type {string | undefined} */
  let version;
  // remote transports are told, to send it with each request; so is this one
  transport.setProtocolVersion = (/** @type {string} */ agreed) => {
    version = agreed;
  };
  await client.connect(transport);
  return sdk(client, () => version);
}

/**
 * @param {Place} place
 * @param {'legacy' | 'auto' | { pin: string }} mode
 * @returns {Promise<Opened>}
 */
async function openSdkV2({ folder, home, environment }, mode) {
  const { Client } = await load(folder, '@modelcontextprotocol/client');
  const { StdioClientTransport } = await load(folder, '@modelcontextprotocol/client/stdio');
  const client = new Client(ABOUT, { versionNegotiation: { mode } });
  await client.connect(new StdioClientTransport({ ...bridge(environment), cwd: home, stderr: 'ignore' }));
  return sdk(client, () => client.getNegotiatedProtocolVersion());
}

const bridge = (/** @type {Record<string, string>} */ env) => ({
  command: 'toolherd',
  args: ['bridge'],
  env,
});

/**
 * @param {any} client of either version of the SDK
 * @param {() => string | undefined} speaks
 * @returns {Opened}
 */
function sdk(client, speaks) {
  return {
    speaks,
    tools: () => pages((params) => client.listTools(params), 'tools'),
    call: (name, args) => client.callTool({ name, arguments: args }),
    resources: () => pages((params) => client.listResources(params), 'resources'),
    read: (uri) => client.readResource({ uri }),
    prompts: () => pages((params) => client.listPrompts(params), 'prompts'),
    get: (name, args) => client.getPrompt({ name, arguments: args }),
    instructions: () => client.getInstructions(),
    close: () => client.close(),
  };
}

/**
 * @param {(params: object) => Promise<any>} list
 * @param {string} what
 */
async function pages(list, what) {
  /** @type {any[]} */
  const all = [];
  /** @type {string | undefined} */
  let cursor;
  do {
    /** @type {any} */
    const page = await list(cursor === undefined ? {} : { cursor });
    all.push(...page[what]);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return all;
}

/**
 * Driven by a config file that names the bridge, as a user has one. Each command opens a new connection.
 * @param {'legacy' | 'modern'} era
 * @returns {(place: Place) => Promise<Opened>}
 */
function openInspector(era) {
  return async (place) => {
    const program = join(
      place.folder,
      'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
    );
    const ask = async (/** @type {string} */ method, /** @type {string[]} */ ...flags) => {
      const words = ['--cli', '--config', place.config, '--server', 'herd', '--format', 'json', '-q'];
      const { out, errors } = await run(place, program, [
        ...words,
        '--protocol-era',
        era,
        '--method',
        method,
        ...flags,
      ]);
      if (out === '') throw new Error(errors);
      return JSON.parse(out).result;
    };
    const json = (/** @type {object} */ args) => ['--tool-args-json', JSON.stringify(args)];
    const pairs = (/** @type {object} */ args) =>
      Object.entries(args).flatMap(([key, value]) => ['--prompt-args', `${key}=${value}`]);
    return {
      speaks: () => (era === 'modern' ? MODERN : UNSAID),
      tools: async () => (await ask('tools/list')).tools,
      call: (name, args) => ask('tools/call', '--tool-name', name, ...json(args)),
      resources: async () => (await ask('resources/list')).resources,
      read: (uri) => ask('resources/read', '--uri', uri),
      prompts: async () => (await ask('prompts/list')).prompts,
      get: (name, args) => ask('prompts/get', '--prompt-name', name, ...pairs(args)),
      close: () => undefined,
    };
  };
}

/**
 * @param {Place} place
 * @returns {Promise<Opened>}
 */
async function openMcporter(place) {
  const program = join(place.folder, 'node_modules/mcporter/dist/cli.js');
  const ask = async (/** @type {string[]} */ ...words) => {
    const { out, errors } = await run(place, program, ['--config', place.config, ...words]);
    if (out === '') throw new Error(errors);
    return JSON.parse(out);
  };
  return {
    speaks: () => UNSAID,
    tools: async () => (await ask('list', 'herd', '--json')).tools,
    call: async (name, args) => {
      const result = await ask('call', `herd.${name}`, '--args', JSON.stringify(args), '--output', 'json');
      // of a structured result it shows nothing but that
      return result.content === undefined ? { structuredContent: result } : result;
    },
    resources: async () => (await ask('resource', 'herd', '--json')).resources,
    read: (uri) => ask('resource', 'herd', uri, '--json'),
    close: () => undefined,
  };
}

/**
 * Many of these exit with an error code also where they report an error well: only their output counts.
 * @param {Place} place
 * @param {string} program
 * @param {string[]} words
 */
async function run({ node, home, environment }, program, words) {
  const { stdout, stderr } = await execa(node, [program, ...words], {
    cwd: home,
    env: environment,
    extendEnv: false,
    stdin: 'ignore',
    timeout: 60_000,
    killSignal: 'SIGKILL',
    reject: false,
  });
  return { out: stdout.trim(), errors: stderr.trim().split('\n').at(-1) };
}
