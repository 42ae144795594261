import { readFileSync } from 'node:fs';
import type { Fleet, ToolEntry, ToolResult } from '../../ipc/fleet.js';
import { parseArguments } from '../arguments.js';
import { parseDuration } from '../duration.js';
import { EXIT } from '../exit-codes.js';
import { quoted } from '../plain-text.js';
import { progressLine } from '../progress-line.js';
import { findTarget } from '../target.js';
import { type Call, UsageError, type Verb } from '../verb.js';

export const verb: Verb = {
  usage: 'call SERVER.TOOL [k=v | k:=json]… [--args JSON|-] [--raw]',
  about: 'Calls a tool and prints the text that it answers with, and nothing else.',
  help: `Examples:
  toolherd call everything.echo message=hi
  toolherd call everything.get-sum a=2 b=3              numbers, because the tool says so
  toolherd call memory.create_entities --args '{"entities": []}'
  cat request.json | toolherd call memory.create_entities --args -
  toolherd call everything.echo message=hi --raw       the whole result as JSON

Exit status: 0 ok, 1 the tool or the server failed, 4 no such server or tool, 124 timeout.`,
  options: { args: { type: 'string' }, raw: { type: 'boolean' } },
  most: Number.POSITIVE_INFINITY,
  async run(call) {
    const [target, ...words] = call.args;
    if (target === undefined) throw new UsageError('name a tool', 'usage: toolherd call SERVER.TOOL [k=v]…');
    const fleet = await call.fleet();
    const { server, tool, schema } = await findTool(fleet, target, words.length > 0);
    const whole = call.flags.args === '-' ? readFileSync(0, 'utf8') : (call.flags.args as string | undefined);
    const timeout = call.flags.timeout as string | undefined;
    const params = {
      server,
      tool,
      arguments: parseArguments(words, whole, schema),
      timeout_ms: timeout === undefined ? undefined : parseDuration(timeout),
    };
    const onProgress = (progress: Record<string, unknown>) => call.output.progress(progressLine(progress));
    const result = await fleet.call(params, { onProgress });
    call.output.progress(undefined);
    show(call, result);
    return statusOf(result);
  },
};

/** The schema is asked for only when a value may need it. */
async function findTool(
  fleet: Fleet,
  target: string,
  wantsSchema: boolean,
): Promise<{ server: string; tool: string; schema: unknown }> {
  const { server, name: tool, isKnown } = await findTarget(fleet, target, 'tool');
  if (!wantsSchema || !isKnown) return { server, tool, schema: undefined };
  const known: ToolEntry[] = await fleet.tools(server);
  const found = known.find(({ name }) => name === tool) ?? known.find((entry) => entry.exposed_name === tool);
  return { server, tool: found?.name ?? tool, schema: found?.input_schema };
}

function show({ flags, output }: Call, result: ToolResult): void {
  output.json({ result });
  if (flags.raw === true && !output.isJson) output.printRaw(`${JSON.stringify(result, null, 2)}\n`);
  else if (result.error === null || result.error.type === 'MCPToolError') {
    const texts = result.content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
    if (texts.length > 0) output.printRaw(`${texts.join('\n')}\n`);
    const others = result.content.filter((block) => block.type !== 'text');
    for (const block of others) output.note(`(${block.type} content; see --raw)`);
  }
  if (result.error === null || output.isJson) return;
  const { type, message, why, fix, sent } = result.error;
  if (type === 'MCPToolError') {
    output.note('error: the tool said that it failed');
    return;
  }
  output.error(`error: ${type}: ${quoted(message)}`);
  if (why !== undefined) output.error(`  why: ${quoted(why)}`);
  output.error(`  sent: ${sent ? 'yes, the tool may have run' : 'no, the tool did not run'}`);
  if (fix !== undefined) output.error(`  fix: ${fix}`);
}

const STATUS: Readonly<Record<string, number>> = {
  MCPTimeoutError: EXIT.timeout,
  ServerNotFoundError: EXIT.notFound,
  MCPToolNotFoundError: EXIT.notFound,
  AuthRequiredError: EXIT.notAllowed,
};

function statusOf({ error }: ToolResult): number {
  if (error === null) return EXIT.ok;
  return STATUS[error.type] ?? EXIT.failed;
}
