import { loadBundle } from '../../../bin/load-bundle.js';
import type { Fleet, ToolEntry, ToolResult } from '../../../fleet/fleet.js';
import { EXIT, exitStatusOf } from '../../../shared/report/exit-codes.js';
import { type CommandContext, defineCommand, type UsageError } from '../../core/command.js';
import { readInput } from '../../core/read-input.js';
import { limitByTimeoutOption } from '../../core/timeout.js';
import { isUnreachable } from '../servers/status-table.js';
import { checkArguments } from './check-arguments.js';
import { findTarget } from './find-target.js';
import { parseArguments } from './parse-arguments.js';
import { progressBar, showStartProgress } from './progress.js';
import { saveContent } from './save-content.js';

export const command = defineCommand({
  name: 'call',
  summary: 'Calls a tool and prints the text of its answer, and nothing else.',
  details: `k=v is text, or a number or true/false if the tool's schema says so.
k:=JSON is JSON.
toolherd checks the arguments against that schema before it sends the call.
With --help behind SERVER.TOOL it shows the arguments of the tool.
To a pipe or a file the text is written byte for byte; a terminal gets it
without control characters, and with a newline at its end.
Images, sound and other binary content are saved to files; stderr says where.`,
  args: {
    target: { label: 'SERVER.TOOL', noun: 'tool', complete: 'tool' },
    words: { label: 'k=v|k:=JSON', optional: true, many: true, complete: 'tool argument' },
  },
  options: {
    args: { type: 'string', label: 'JSON|-', about: 'all arguments as one JSON object; - reads stdin' },
    raw: { type: 'boolean', about: 'print the whole result as JSON' },
    out: { type: 'string', label: 'DIR', about: 'save files here, not in a temporary folder' },
  },
  examples: [
    'toolherd call everything.echo message=hi',
    'toolherd call everything.get-sum a=2 b=3',
    ['toolherd call everything.get-sum --help', 'what the tool takes'],
    `toolherd call memory.create_entities --args '{"entities": []}'`,
    'toolherd call memory.create_entities --args - < request.json',
    'toolherd call everything.echo message=hi --raw',
    'toolherd call everything.get-tiny-image --out .',
  ],
  exits: {
    ok: 'ok',
    failed: 'the tool or the server failed',
    usage: 'wrong arguments',
    notFound: 'no such server or tool',
    cannotReach: 'the server cannot be reached',
    notAllowed: 'the server needs authorisation',
    badConfig: 'the entry of the server cannot be resolved',
  },
  ownTimeout: true,
  async explain(context) {
    const fleet = await context.fleet();
    const found = await limitByTimeoutOption(context, findTool(context, fleet, context.args));
    // throws if there is no such server
    if (found.entry === undefined) await fleet.tools(found.server);
    return loadBundle<typeof import('./tool-help.js')>('tool-help').printToolHelp(context, found);
  },
  async run(context) {
    const { args, options, globals, output } = context;
    const whole = options.args === '-' ? readInput(context, '-') : options.args;
    const fleet = await context.fleet();
    const { server, tool, schema } = await limitByTimeoutOption(
      context,
      findTool(context, fleet, args),
    ).catch(throwUnsent);
    const given = parseArguments(args.words, whole, schema);
    for (const oddity of checkArguments(tool, schema, given)) output.note(`warning: ${oddity}`);
    const params = { server, tool, arguments: given, timeout_ms: globals.timeout };
    const onProgress = (progress: Record<string, unknown>) => output.progress(progressBar(progress));
    const result = await showStartProgress(context, fleet, server, fleet.call(params, { onProgress }));
    const isShown = show(context, result, options);
    const status = await statusOf(result, fleet);
    return isShown || status !== EXIT.ok ? status : EXIT.failed;
  },
});

/** report-error.ts prints then that the tool did not run. */
function throwUnsent(error: unknown): never {
  throw Object.assign(error as Error, { isUnsentCall: true });
}

export interface FoundTool {
  server: string;
  tool: string;
  schema: unknown;
  /** Undefined: no known list has the tool. */
  entry: ToolEntry | undefined;
}

interface CallArguments {
  target: string;
  words: readonly string[];
}

/** A name with one dot can be read in one way only: then no request for the names of all servers is needed. */
async function findTool(
  context: CommandContext,
  fleet: Fleet,
  { target, words }: CallArguments,
): Promise<FoundTool> {
  const toolsOf = async (name: string) =>
    (await showStartProgress(context, fleet, name, fleet.tools(name))).tools;
  const [server = '', name = '', ...more] = target.split('.');
  if (server !== '' && name !== '' && more.length === 0) {
    try {
      return schemaOf(await toolsOf(server), server, name);
    } catch (error) {
      if ((error as { type?: string }).type !== 'ServerNotFoundError') throw error;
    }
  }
  const found = await findTarget(fleet, target, { kind: 'tool', words });
  return schemaOf(found.isKnown ? await toolsOf(found.server) : [], found.server, found.name);
}

/** A tool with a bad definition can be called, with any arguments. */
function schemaOf(known: readonly ToolEntry[], server: string, tool: string): FoundTool {
  const entry = known.find(({ name }) => name === tool) ?? known.find((one) => one.exposed_name === tool);
  const schema = entry?.problem === undefined ? entry?.input_schema : undefined;
  return { server, tool: entry?.name ?? tool, schema, entry };
}

interface ShowOptions {
  raw: boolean;
  out: string | undefined;
}

/** False if a part of the result could not be saved. By then the tool has run, and its text is printed. */
function show(context: CommandContext, result: ToolResult, { raw, out }: ShowOptions): boolean {
  const { output } = context;
  output.json({ result });
  if (raw && !output.isJson) output.printRaw(`${JSON.stringify(result, null, 2)}\n`);
  else if (result.error === null || result.error.type === 'MCPToolError') {
    const texts = result.content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
    if (texts.length > 0) output.printRaw(texts.join('\n'));
  }
  const isWanted = out !== undefined || !(output.isJson || output.isQuiet || raw);
  const isSaved = !isWanted || save(context, result, out);
  if (result.error === null || output.isJson) return isSaved;
  const { type, message, why, fix, sent } = result.error;
  if (type !== 'MCPToolError') errors().printError(output, { type, message, why, sent, fix });
  // stdout has what the tool said about it
  else if (!output.isQuiet)
    errors().printError(output, { type, message: 'the tool reported a failure', fix });
  return isSaved;
}

function save(context: CommandContext, result: ToolResult, out: string | undefined): boolean {
  try {
    for (const line of saveContent(context, result, out)) context.output.note(line);
    return true;
  } catch (error) {
    const { type, message, fix } = error as UsageError;
    errors().printError(context.output, {
      type,
      message,
      why: 'the tool has run, but its answer could not be saved',
      fix: `${fix}; --raw shows the answer as JSON`,
    });
    return false;
  }
}

/** In a separate bundle, because most calls succeed. */
function errors() {
  return loadBundle<typeof import('../../core/report-error.js')>('report-error');
}

/** A server that failed a moment ago is not tried again at once: then the status is that of its last failure. */
async function statusOf({ error, metadata }: ToolResult, fleet: Fleet): Promise<number> {
  if (error === null) return EXIT.ok;
  if (error.type === 'ServerUnavailableError') {
    const { servers } = await fleet.status([metadata.server]);
    if (servers.some(({ detail }) => detail === 'needs_auth' || detail === 'not_allowed'))
      return EXIT.notAllowed;
    return servers.some(isUnreachable) ? EXIT.cannotReach : EXIT.failed;
  }
  return exitStatusOf(error.type);
}
