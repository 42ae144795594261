import { shownName, toolDefinition } from '../../fleet/definitions.js';
import type { LocalFleet, McpResult, MissingList, ToolEntry, ToolMatch } from '../../fleet/fleet.js';
import { isObject, type JsonObject } from '../../shared/json.js';
import { isOwnName, type OwnToolName, type Surface } from '../../shared/mcp/surface.js';
import { didYouMean } from '../../shared/text/near-miss.js';
import { wrong } from '../jsonrpc/params.js';
import { toErrorObject } from '../jsonrpc/rpc-error.js';
import { pageOfText } from './read-result.js';

/** What the answers of toolherd's own tools are made from. */
export interface OwnContext {
  fleet: Pick<LocalFleet, 'search' | 'tools' | 'keptText'>;
  /** The one server that the agent sees; undefined: the herd. */
  server: string | undefined;
  surface: Surface;
  /** Of kept results. */
  owner: string;
}

/** A tool of toolherd that answers for itself. `call_tool` becomes the call of another tool instead. */
export type AnsweringTool = Exclude<OwnToolName, 'call_tool'>;

const MOST_DESCRIBED = 20;
/** Without a limit of results a page of one still has one. */
const LONGEST_PAGE = 100_000;

/** The result of one of toolherd's own tools. A wrong question gets a result that says so: a model reads it. */
export async function answerOwn(tool: AnsweringTool, args: unknown, own: OwnContext): Promise<McpResult> {
  try {
    const given = isObject(args) ? args : {};
    return said(await ANSWERS[tool](given, own));
  } catch (error) {
    const { message, data } = toErrorObject(error) ?? { message: String(error) };
    const { why, fix } = (isObject(data) ? data : {}) as { why?: string; fix?: string };
    return failed([message, why, fix].filter((text) => text !== undefined).join('; '));
  }
}

/** The call that `call_tool` stands for, in params of `tools/call`; or what is wrong with it. */
export function calledTool(params: JsonObject): JsonObject | McpResult {
  const { arguments: given, ...rest } = params;
  const { name, arguments: args } = isObject(given) ? given : ({} as JsonObject);
  if (typeof name !== 'string' || name === '') return failed("'name' must be the name of a tool");
  if (args !== undefined && args !== null && !isObject(args))
    return failed("'arguments' must be an object with the arguments of that tool");
  return { ...rest, name, arguments: args ?? {} };
}

/** A model may take the tools of toolherd for tools that it has to call by another one. */
export function notThroughCallTool(name: unknown): McpResult {
  return failed(
    `${String(name)} is a tool of toolherd, and no server has a tool of this name: call it directly`,
  );
}

export function isRefusal(called: JsonObject | McpResult): called is McpResult & { isError: true } {
  return called.isError === true;
}

type Answer = (args: JsonObject, own: OwnContext) => Promise<string>;

const ANSWERS: Readonly<Record<AnsweringTool, Answer>> = {
  search_tools: async (args, { fleet, server: only }) => {
    const query = textOf(args, 'query');
    const server = only ?? optionalText(args, 'server');
    const { tools, missing, hints } = await fleet.search({
      query,
      limit: optionalCount(args, 'limit'),
      server,
    });
    const nothing = tools.length === 0 ? ['Nothing was found.', ...hints.map((hint) => `- ${hint}`)] : [];
    return [
      ...tools.map((tool) => lineOf(tool, only !== undefined)),
      ...nothing,
      ...missingLines(missing),
    ].join('\n');
  },
  describe_tools: async ({ names }, { fleet, server }) => {
    if (!Array.isArray(names) || names.length === 0 || !names.every((name) => typeof name === 'string'))
      throw wrong("'names' must be a list of names of tools");
    if (names.length > MOST_DESCRIBED)
      throw wrong(`'names' has ${names.length} names: ask for at most ${MOST_DESCRIBED} at once`);
    const { tools, missing } = await fleet.tools(server, false, 'list_wait');
    const nameOf = (tool: ToolEntry) => shownName(server, tool);
    const described = names.map((name: string) => {
      const tool = tools.find((one) => nameOf(one) === name);
      if (tool === undefined) return `${name}: no tool has this name; ${whereElse(name, tools.map(nameOf))}`;
      if (tool.blocked !== undefined) return `${name}: it cannot be called: ${tool.blocked}`;
      return JSON.stringify(toolDefinition(tool, name));
    });
    const isUnknown = names.some((name: string) => !tools.some((tool) => nameOf(tool) === name));
    return [...described, ...(isUnknown ? missingLines(missing) : [])].join('\n');
  },
  read_result: async (args, { fleet, owner, surface: { resultLimit } }) => {
    const id = textOf(args, 'id');
    const text = await fleet.keptText(id, owner);
    if (text === undefined)
      throw wrong(
        `no result of this id is kept: ids are in the notes of cut results and are valid for a day; call the tool again`,
      );
    const asked = {
      offset: optionalCount(args, 'offset', 0),
      limit: optionalCount(args, 'limit'),
      pointer: optionalText(args, 'pointer'),
      match: optionalText(args, 'match'),
    };
    const page = pageOfText(text, asked, resultLimit === 0 ? LONGEST_PAGE : resultLimit);
    if ('problem' in page) throw wrong(page.problem);
    return page.text;
  },
};

function whereElse(name: string, known: readonly string[]): string {
  return didYouMean(name, known) || 'find one with search_tools';
}

function lineOf({ name: own, exposed_name, signature, description }: ToolMatch, isAlone: boolean): string {
  // a server's own name may have a parenthesis; one of a profile has none
  const at = signature.startsWith(`${own}(`) ? own.length : signature.indexOf('(');
  const name = isAlone ? signature.slice(0, at) : exposed_name;
  const shown = `${name}${signature.slice(at)}`;
  // in search mode its name alone means the tool of toolherd
  const how = isOwnName(name) ? ' [only through call_tool]' : '';
  return description === '' ? `${shown}${how}` : `${shown}${how}: ${description}`;
}

/** The reason says whether what the server listed last was searched. */
function missingLines(missing: readonly MissingList[]): string[] {
  return missing.map(({ server, reason }) => `Not up to date: ${server}: ${reason}`);
}

function said(text: string): McpResult {
  return { content: [{ type: 'text', text }] };
}

function failed(text: string): McpResult {
  return { content: [{ type: 'text', text }], isError: true };
}

function textOf(args: JsonObject, name: string): string {
  const value = args[name];
  if (typeof value !== 'string' || value === '') throw wrong(`'${name}' must be a text`);
  return value;
}

/** Models also write an empty text or null where they mean nothing. */
function optionalText(args: JsonObject, name: string): string | undefined {
  const value = args[name] ?? undefined;
  if (value === undefined || value === '') return undefined;
  return textOf(args, name);
}

function optionalCount(args: JsonObject, name: string, least = 1): number | undefined {
  const value = args[name] ?? undefined;
  if (value === undefined) return undefined;
  if (!Number.isSafeInteger(value) || (value as number) < least)
    throw wrong(`'${name}' must be a whole number from ${least} on`);
  return value as number;
}
