import type {
  Fleet,
  ListName,
  MissingList,
  PromptEntry,
  ResourceEntry,
  TemplateEntry,
} from '../../../fleet/fleet.js';
import { type Command, defineCommand } from '../../core/command.js';
import { table } from '../../ui/table.js';
import { firstLine, singleLine } from '../../ui/text.js';
import { type Listed, warnAboutBadDefinitions, warnAboutMissingLists } from './list-warnings.js';
import { showStartProgress } from './progress.js';
import { type TokenReport, tokenReport, tokenTable } from './tokens-table.js';

/** What the three lists have in common. */
const WAITING = `A server that has never run is started. An idle server is not started: its last
known list is shown.
The list of all servers waits at most daemon.list_wait (2 s) for servers that
are starting. With SERVER or --refresh it waits until they have started.
stderr names the lists that are missing.`;

const EXITS = {
  ok: 'ok',
  failed: 'the named server could not be asked',
  notFound: 'no such server',
  cannotReach: 'the named server cannot be reached',
  notAllowed: 'the named server needs authorisation',
  badConfig: 'the entry of the named server cannot be resolved',
} as const;

const REFRESH = { type: 'boolean', about: 'ask the servers again, and start them if need be' } as const;
const SCHEMA = { type: 'boolean', about: 'with the JSON Schema of the arguments' } as const;
const TOKENS = { type: 'boolean', about: 'what the definitions cost an agent that lists them' } as const;

interface ListDeclaration<Answer, Entry> {
  name: ListName;
  summary: string;
  /** Facts about this list alone. */
  details: string;
  examples?: Command['examples'];
  header: readonly string[];
  ask(fleet: Fleet, server: string | undefined, refresh: boolean): Promise<Answer>;
  entriesOf(answer: Answer): readonly Entry[];
  labelOf(entry: Entry): string;
  row(entry: Entry): string[];
  /** For --schema, of the list that has it. */
  schemaOf?(entry: Entry): unknown;
  /** For --tokens, of the list that has it. */
  tokensOf?(entries: readonly Entry[]): TokenReport;
}

/** `tools`, `prompts` and `resources` are one command for three lists. */
function listCommand<
  Answer extends { missing?: readonly MissingList[] | undefined },
  Entry extends Listed['entries'][number],
>(list: ListDeclaration<Answer, Entry>): Command {
  const { name, schemaOf, tokensOf } = list;
  return defineCommand({
    name,
    summary: list.summary,
    details: `${WAITING}\n${list.details}`,
    args: { server: { optional: true, complete: 'server' } },
    options:
      schemaOf === undefined ? { refresh: REFRESH } : { refresh: REFRESH, schema: SCHEMA, tokens: TOKENS },
    examples: [
      `toolherd ${name}`,
      `toolherd ${name} everything`,
      `toolherd ${name} everything --refresh`,
      ...(list.examples ?? []),
    ],
    exits: EXITS,
    async run(context) {
      const { args, options, output } = context;
      const fleet = await context.fleet();
      const asked = list.ask(fleet, args.server, options.refresh);
      const answer = await showStartProgress(context, fleet, args.server, asked);
      const entries = list.entriesOf(answer);
      const listed = { entries, missing: answer.missing };
      const tokens = 'tokens' in options && options.tokens ? tokensOf?.(entries) : undefined;
      output.json({ ...answer, ...(tokens !== undefined && { tokens }) });
      warnAboutBadDefinitions(output, listed, (index) => list.labelOf(entries[index]!));
      const wanted = { server: args.server, refresh: options.refresh };
      const status = await warnAboutMissingLists(context, fleet, listed, wanted);
      if (schemaOf !== undefined && 'schema' in options && options.schema) {
        for (const entry of entries)
          output.print(`${singleLine(list.labelOf(entry))}\n${JSON.stringify(schemaOf(entry), null, 2)}`);
        return status;
      }
      if (tokens !== undefined) {
        output.print(tokenTable(tokens, output.columns));
        output.note('(estimated: a token is four characters of JSON)');
        return status;
      }
      const rows = entries.map((entry) => list.row(entry));
      output.print(rows.length === 0 ? await nothing(fleet, name) : table(list.header, rows, output.columns));
      return status;
    },
  });
}

async function nothing(fleet: Fleet, name: ListName): Promise<string> {
  const { servers } = await fleet.status();
  return servers.length > 0 ? `no ${name}` : `no ${name}; add a server with: toolherd add`;
}

const mark = ({ problem }: { problem?: string | undefined }) => (problem === undefined ? '' : ' !');
const uriOf = (entry: ResourceEntry | TemplateEntry) => String(entry.uri ?? entry.uri_template);

export const commands: readonly Command[] = [
  listCommand({
    name: 'tools',
    summary: 'Lists the tools of all servers, or of one.',
    details: `A tool with a bad definition is marked with '!': it can still be called.
With 'security.pin: enforce' calls of a tool that differs from its pin fail.
--tokens counts what an agent reads before each task if it lists all tools. See
--surface and --profile of "toolherd bridge" for a shorter list.`,
    examples: [
      'toolherd tools memory --schema',
      ['toolherd tools --tokens', 'the dearest servers and tools first'],
      "toolherd tools --json | jq -r '.tools[].exposed_name'",
    ],
    header: ['TOOL', 'DESCRIPTION'],
    ask: (fleet, server, refresh) => fleet.tools(server, refresh),
    entriesOf: ({ tools }) => tools,
    labelOf: ({ server, name }) => `${server}.${name}`,
    row: (tool) => [
      `${tool.server}.${tool.name}${mark(tool)}${tool.blocked === undefined ? '' : ' (blocked)'}`,
      firstLine(tool.description),
    ],
    schemaOf: ({ input_schema }) => input_schema,
    tokensOf: tokenReport,
  }),
  listCommand({
    name: 'prompts',
    summary: 'Lists the prompts of all servers, or of one, with their arguments.',
    details: 'Arguments in [brackets] are optional.',
    header: ['PROMPT', 'ARGUMENTS', 'DESCRIPTION'],
    ask: (fleet, server, refresh) => fleet.prompts(server, refresh),
    entriesOf: ({ prompts }) => prompts,
    labelOf: ({ server, name }) => `${server}.${name}`,
    row: (prompt) => [
      `${prompt.server}.${prompt.name}${mark(prompt)}`,
      argumentsOf(prompt),
      firstLine(prompt.description),
    ],
  }),
  listCommand({
    name: 'resources',
    summary: 'Lists the resources and resource templates of all servers, or of one.',
    details: 'A template is a URI with {names} to fill in.',
    header: ['SERVER', 'URI', 'TYPE', 'DESCRIPTION'],
    ask: (fleet, server, refresh) => fleet.resources(server, refresh),
    entriesOf: ({ resources, templates }): readonly (ResourceEntry | TemplateEntry)[] => [
      ...resources,
      ...templates,
    ],
    labelOf: (entry) => `${entry.server} ${uriOf(entry)}`,
    row: (entry) => [
      entry.server,
      `${uriOf(entry)}${mark(entry)}`,
      entry.mime_type ?? '-',
      firstLine(entry.description ?? entry.name),
    ],
  }),
];

function argumentsOf({ arguments: wanted }: PromptEntry): string {
  const names = wanted.map((one) => {
    const { name, required } = (one ?? {}) as { name?: unknown; required?: unknown };
    return required === true ? String(name) : `[${String(name)}]`;
  });
  return names.length === 0 ? '-' : names.join(' ');
}
