import { ToolherdError } from '../../../shared/errors.js';
import { isObject } from '../../../shared/json.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { shellWord } from '../../../shared/text/shell-word.js';
import type { CommandContext } from '../../core/command.js';
import { table } from '../../ui/table.js';
import { firstLine, quoted } from '../../ui/text.js';
import type { FoundTool } from './call.js';
import { describeArguments } from './check-arguments.js';
import { propertiesOf } from './schema-types.js';

class UnknownToolError extends ToolherdError {
  override readonly type = 'MCPToolNotFoundError';
}

/** The help of one tool: its arguments as `call` takes them, with what its schema says about each. */
export function printToolHelp(
  { output }: CommandContext,
  { server, tool, schema, entry }: FoundTool,
): number {
  const target = shellWord(`${server}.${tool}`);
  if (entry === undefined)
    throw new UnknownToolError(`${server} has no tool '${tool}'`, {
      fix: `see "toolherd tools ${shellWord(server)}"`,
    });
  const properties = propertiesOf(schema);
  const names = Object.keys(properties);
  const required = isObject(schema) && Array.isArray(schema.required) ? schema.required : [];
  const rows = names.map((name) => [
    `  ${name}`,
    required.includes(name) ? 'required' : 'optional',
    descriptionOf(properties[name]),
  ]);
  const help = [
    `Usage: toolherd call ${target}${names.length === 0 ? '' : ` ${describeArguments(schema)}`}`,
    quoted(entry.description ?? 'The server says nothing about it.'),
    names.length === 0 ? 'It takes no arguments.' : `Arguments:\n${rowsOf(rows, output.columns)}`,
    `"toolherd help call" explains the options; "toolherd tools ${shellWord(server)} --schema" shows the schema.`,
  ].join('\n\n');
  output.json({ help });
  output.print(help);
  return EXIT.ok;
}

/** A table without its header. */
function rowsOf(rows: readonly (readonly string[])[], columns: number | undefined): string {
  return table(['', '', ''], rows, columns).slice(1);
}

function descriptionOf(property: unknown): string {
  if (!isObject(property)) return '';
  const about = typeof property.description === 'string' ? firstLine(property.description) : '';
  const given = property.default === undefined ? '' : `(default: ${JSON.stringify(property.default)})`;
  return [about, given].filter(Boolean).join(' ');
}
