/**
 * What the conformance suite runs as "the client": a herd of one server, whose url is the last argument. Each scenario
 * names the action.
 */
import type { OnRequest, ToolEntry, ToolResult } from '../../src/fleet/fleet.js';
import { openHerd, SERVER } from './herd.js';

interface Context {
  client_id?: string;
  client_secret?: string;
  toolCalls?: { name: string; arguments: Record<string, unknown> }[];
}

const url = process.argv.at(-1) ?? '';
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? '';
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') as Context;
/** A client of this name is known to every authorisation server that takes metadata documents. */
const METADATA_DOCUMENT = 'https://conformance-test.local/client-metadata.json';
/** One call should not open a login page more often. */
const MOST_LOGINS = 3;

const { herd, authorize, close } = await openHerd(url);
let logins = 0;
try {
  await run();
} finally {
  await close();
}

async function run(): Promise<void> {
  const tools = await list();
  if (context.toolCalls !== undefined) {
    for (const { name, arguments: args } of context.toolCalls) await call(name, args);
    return;
  }
  switch (scenario) {
    case 'json-schema-ref-no-deref':
    case 'request-metadata':
      return;
    case 'json-schema-2020-12-preservation': {
      const schema = tools.find(({ name }) => name === 'json_schema_2020_12_tool')?.input_schema;
      await call('json_schema_echo', { schema });
      return;
    }
    case 'http-standard-headers':
      await call(tools[0]?.name ?? '', {});
      for (const { name } of (await herd.view.catalog.prompts(SERVER)).prompts)
        await herd.view.requests.prompt({ server: SERVER, name, arguments: {} });
      for (const { uri } of (await herd.view.catalog.resources(SERVER)).resources)
        await herd.view.requests.resource({ server: SERVER, uri });
      return;
    case 'tools_call':
      await call('add_numbers', { a: 5, b: 3 });
      return;
    default:
      for (const { name } of tools) await call(name, {});
  }
}

/** The tools, after as many logins as it takes. */
async function list(): Promise<ToolEntry[]> {
  for (;;) {
    const { tools } = await herd.view.catalog.tools(SERVER, true);
    const [status] = herd.view.status([SERVER]);
    const isRefused = status?.state === 'error' && status.last_error?.cause === 'auth';
    if (!isRefused) return tools;
    await login();
  }
}

async function call(tool: string, args: Record<string, unknown>): Promise<ToolResult> {
  for (;;) {
    const result = await herd.view.calls.call(
      { server: SERVER, tool, arguments: args },
      { onRequest: answer },
    );
    if (result.error?.type !== 'AuthRequiredError') return report(result);
    await login();
  }
}

function report(result: ToolResult): ToolResult {
  console.error(JSON.stringify(result));
  return result;
}

/** Agrees to everything, and leaves every answer at its default, like a user who accepts everything. */
async function answer(...[method, params]: Parameters<OnRequest>): ReturnType<OnRequest> {
  if (method === 'elicitation/create')
    return { action: 'accept', content: defaultsOf(params?.requestedSchema) };
  const content = { type: 'text', text: 'ok' };
  return { role: 'assistant', content, model: 'none', stopReason: 'endTurn' };
}

function defaultsOf(schema: unknown): Record<string, unknown> {
  const { properties = {} } = schema as { properties?: Record<string, { default?: unknown }> };
  const given = Object.entries(properties).filter(([, property]) => property.default !== undefined);
  return Object.fromEntries(given.map(([name, property]) => [name, property.default]));
}

/** What a person would do in a browser. */
async function login(): Promise<void> {
  logins += 1;
  if (logins > MOST_LOGINS) throw new Error('sent to the login page once too often');
  const { client_secret } = context;
  const client_id = context.client_id ?? (scenario === 'auth/basic-cimd' ? METADATA_DOCUMENT : undefined);
  const known = client_id === undefined ? {} : { client_id, client_secret };
  const { authorization_url } = await authorize({ server: SERVER, ...known });
  if (authorization_url === null) return;
  const done = authorize({ server: SERVER, wait: true });
  const page = await fetch(authorization_url, { redirect: 'manual' });
  const back = page.headers.get('location');
  if (back === null) throw new Error(`the login page did not lead back: HTTP ${page.status}`);
  await fetch(back);
  await done;
}
