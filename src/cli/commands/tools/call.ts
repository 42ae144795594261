import { readFileSync } from 'node:fs';
import type { Fleet, ToolEntry, ToolResult } from '../../../fleet/fleet.js';
import { type Command, type CommandContext, UsageError } from '../../core/command.js';
import { parseDuration } from '../../core/duration.js';
import { EXIT } from '../../core/exit-codes.js';
import { withTimeout } from '../../core/timeout.js';
import { progressBar } from '../../ui/progress-bar.js';
import { quoted } from '../../ui/text.js';
import { isUnreachable } from '../servers/status-table.js';
import { checkArguments } from './check-arguments.js';
import { parseArguments } from './parse-arguments.js';
import { findTarget } from './resolve-target.js';
import { saveContent } from './save-content.js';
import { showStartProgress } from './start-progress.js';

export const verb: Command = {
  usage: 'call SERVER.TOOL [k=v | k:=json]… [--args JSON|-] [--raw] [--out DIR]',
  about: `Calls a tool and prints the text that it answers with, and nothing else. Images, sound and other bytes are saved
to files, and where they are is said beside it.`,
  help: `Examples:
  toolherd call everything.echo message=hi
  toolherd call everything.get-sum a=2 b=3              numbers, because the tool says so
  toolherd call memory.create_entities --args '{"entities": []}'
  cat request.json | toolherd call memory.create_entities --args -
  toolherd call everything.echo message=hi --raw       the whole result as JSON
  toolherd call everything.get-tiny-image --out .      saves the image here, not in a temporary folder

What is missing or wrong by the tool's own schema is said before anything is sent.

Exit status: 0 ok, 1 the tool or the server failed, 2 wrong arguments, 4 no such server or tool, 69 the server cannot be
reached, 77 it needs authorisation, 78 its entry in the config cannot be resolved, 124 timeout.`,
  options: { args: { type: 'string' }, raw: { type: 'boolean' }, out: { type: 'string' } },
  most: Number.POSITIVE_INFINITY,
  async run(call) {
    const [target, ...words] = call.args;
    if (target === undefined) throw new UsageError('name a tool', 'usage: toolherd call SERVER.TOOL [k=v]…');
    const whole = call.flags.args === '-' ? readFileSync(0, 'utf8') : (call.flags.args as string | undefined);
    const fleet = await call.fleet();
    const { server, tool, schema } = await withTimeout(call, findTool(call, fleet, target));
    const given = parseArguments(words, whole, schema);
    for (const oddity of checkArguments(tool, schema, given)) call.output.note(`warning: ${oddity}`);
    const timeout = call.flags.timeout as string | undefined;
    const params = {
      server,
      tool,
      arguments: given,
      timeout_ms: timeout === undefined ? undefined : parseDuration(timeout),
    };
    const onProgress = (progress: Record<string, unknown>) => call.output.progress(progressBar(progress));
    const result = await showStartProgress(call, fleet, server, fleet.call(params, { onProgress }));
    const isShown = show(call, result);
    const status = await statusOf(result, fleet);
    return isShown || status !== EXIT.ok ? status : EXIT.failed;
  },
};

interface Found {
  server: string;
  tool: string;
  schema: unknown;
}

/** With one dot in it there is one way to read a name: then the herd need not be asked who is in it. */
async function findTool(call: CommandContext, fleet: Fleet, target: string): Promise<Found> {
  const toolsOf = async (name: string) =>
    (await showStartProgress(call, fleet, name, fleet.tools(name))).tools;
  const [server = '', name = '', ...more] = target.split('.');
  if (server !== '' && name !== '' && more.length === 0) {
    try {
      return schemaOf(await toolsOf(server), server, name);
    } catch (error) {
      if ((error as { type?: string }).type !== 'ServerNotFoundError') throw error;
    }
  }
  const found = await findTarget(fleet, target, 'tool');
  return schemaOf(found.isKnown ? await toolsOf(found.server) : [], found.server, found.name);
}

/** A tool whose definition is bad is called all the same, with whatever is given. */
function schemaOf(known: readonly ToolEntry[], server: string, tool: string): Found {
  const found = known.find(({ name }) => name === tool) ?? known.find((entry) => entry.exposed_name === tool);
  const schema = found?.problem === undefined ? found?.input_schema : undefined;
  return { server, tool: found?.name ?? tool, schema };
}

/** False where a part of it could not be saved. By then the tool has run, and what it said is printed. */
function show(call: CommandContext, result: ToolResult): boolean {
  const { flags, output } = call;
  output.json({ result });
  if (flags.raw === true && !output.isJson) output.printRaw(`${JSON.stringify(result, null, 2)}\n`);
  else if (result.error === null || result.error.type === 'MCPToolError') {
    const texts = result.content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
    if (texts.length > 0) output.printRaw(`${texts.join('\n')}\n`);
  }
  const isWanted = typeof flags.out === 'string' || !(output.isJson || output.isQuiet || flags.raw === true);
  const isSaved = !isWanted || save(call, result);
  if (result.error === null || output.isJson) return isSaved;
  const { type, message, why, fix, sent } = result.error;
  if (type === 'MCPToolError') {
    output.note('error: the tool said that it failed');
    return isSaved;
  }
  output.error(`error: ${type}: ${quoted(message)}`);
  if (why !== undefined) output.error(`  why: ${quoted(why)}`);
  output.error(`  sent: ${sent ? 'yes, the tool may have run' : 'no, the tool did not run'}`);
  if (fix !== undefined) output.error(`  fix: ${fix}`);
  return isSaved;
}

function save(call: CommandContext, result: ToolResult): boolean {
  try {
    for (const line of saveContent(call, result)) call.output.note(line);
    return true;
  } catch (error) {
    const { message, fix } = error as UsageError;
    call.output.error(`error: ${message}\n  why: the tool has run, but its answer could not be saved`);
    call.output.error(`  fix: ${fix}; --raw shows the answer as JSON`);
    return false;
  }
}

const STATUS: Readonly<Record<string, number>> = {
  MCPTimeoutError: EXIT.timeout,
  ServerNotFoundError: EXIT.notFound,
  MCPToolNotFoundError: EXIT.notFound,
  AuthRequiredError: EXIT.notAllowed,
  TrustRequiredError: EXIT.notAllowed,
  MCPConnectionError: EXIT.cannotReach,
  ConfigError: EXIT.badConfig,
  MCPConfigError: EXIT.badConfig,
};

/** A server that failed a moment ago is not tried again at once; why it failed then still counts. */
async function statusOf({ error, metadata }: ToolResult, fleet: Fleet): Promise<number> {
  if (error === null) return EXIT.ok;
  if (error.type === 'ServerUnavailableError') {
    const { servers } = await fleet.status([metadata.server]);
    if (servers.some(({ detail }) => detail === 'needs_auth' || detail === 'not_allowed'))
      return EXIT.notAllowed;
    return servers.some(isUnreachable) ? EXIT.cannotReach : EXIT.failed;
  }
  return STATUS[error.type] ?? EXIT.failed;
}
