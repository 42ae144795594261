import * as z from 'zod/mini';
import { type FieldName, RUNTIMES } from '../fields/entry-fields.js';
import { type Report, stringMap, strings } from '../fields/parsed-entry.js';
import { shapeProblems } from '../fields/shape-problems.js';
import { choice, flag, map, names, optional, pairs, text, texts } from '../fields/shapes.js';
import type { DataMap, SourceDocument } from '../parse/document.js';
import type { Path } from '../parse/problem.js';

/**
 * Source documents: another form of an entry, whose fields begin with `mcp_`. A source is a local plugin
 * (`mcp_plugin_dir`) or a remote server (`mcp_server_url`).
 */
const SOURCE_FIELDS = {
  name: text(),
  description: optional(z.string({ error: 'a text' })),
  url: optional(text()),
  source_type: choice('mcp'),
  /** As in an entry of agent.yaml. */
  type: optional(choice('mcp')),
  mcp_plugin_dir: optional(text()),
  mcp_transport_type: optional(choice('stdio', 'sse', 'streamable_http')),
  mcp_runtime_hint: optional(choice(...RUNTIMES)),
  mcp_lifecycle_mode: optional(choice('transient', 'singleton')),
  mcp_env_vars: optional(pairs()),
  mcp_command: optional(
    z.union([text(), names().check(z.minLength(1))], { error: 'a command, or a list that begins with one' }),
  ),
  mcp_args: optional(texts()),
  mcp_server_url: optional(text()),
  enabled: optional(flag()),
};

export const SOURCE = map(SOURCE_FIELDS);

/** The names of an entry's fields in a source document, so that problems point at what the user wrote. */
const NAMES: Partial<Record<FieldName, string>> = {
  plugin_dir: 'mcp_plugin_dir',
  transport: 'mcp_transport_type',
  runtime_hint: 'mcp_runtime_hint',
  lifecycle: 'mcp_lifecycle_mode',
  env: 'mcp_env_vars',
  headers: 'mcp_env_vars',
  command: 'mcp_command',
  args: 'mcp_args',
  url: 'mcp_server_url',
  server: 'name',
};

const PLUGIN_ONLY = ['mcp_runtime_hint', 'mcp_lifecycle_mode', 'mcp_command', 'mcp_args'] as const;

export function isSourceDocument(item: DataMap): boolean {
  return Object.hasOwn(item, 'source_type');
}

/** Converts a source document to an entry. Undefined when it has problems, which were reported. */
export function convertSource(
  document: SourceDocument,
  path: Path,
  item: DataMap,
  report: Report,
): { entry: DataMap; names: Partial<Record<FieldName, string>> } | undefined {
  const wanted = {
    type: 'MCPConfigError' as const,
    schema: SOURCE,
    path,
    known: Object.keys(SOURCE_FIELDS),
    about: () => undefined,
  };
  const problems = shapeProblems(document, item, wanted);
  for (const { problem } of problems) report(problem);
  if (problems.length > 0) return undefined;
  const fail = (field: string, message: string, fix: string) =>
    report(document.problem('MCPConfigError', [...path, field], message, fix, 'key'));
  const isPlugin = item.mcp_plugin_dir !== undefined;
  const isRemote = item.mcp_server_url !== undefined;
  if (isPlugin === isRemote) {
    const message = "A source needs either 'mcp_plugin_dir' or 'mcp_server_url'";
    report(document.problem('MCPConfigError', path, message, 'keep or add one of the two'));
    return undefined;
  }
  const transport = item.mcp_transport_type;
  if (isPlugin && transport !== undefined && transport !== 'stdio') {
    const message = `'mcp_transport_type: ${transport}' is not supported for a local plugin`;
    fail('mcp_transport_type', message, 'use stdio, or run the server yourself and name its mcp_server_url');
  }
  if (isRemote && transport !== undefined && transport !== 'streamable_http') {
    fail(
      'mcp_transport_type',
      "'mcp_transport_type' must be streamable_http for a remote source",
      'change it',
    );
  }
  for (const field of isRemote ? PLUGIN_ONLY : []) {
    if (item[field] !== undefined) fail(field, `'${field}' does not belong to a remote source`, 'remove it');
  }
  return { entry: isPlugin ? pluginEntry(item) : remoteEntry(item), names: NAMES };
}

function common(item: DataMap): DataMap {
  const entry: DataMap = Object.create(null);
  Object.assign(entry, { name: item.name, server: item.name });
  if (item.description !== undefined) entry.description = item.description;
  if (item.enabled !== undefined) entry.enabled = item.enabled;
  return entry;
}

function pluginEntry(item: DataMap): DataMap {
  const entry = common(item);
  entry.plugin_dir = item.mcp_plugin_dir!;
  entry.lifecycle = item.mcp_lifecycle_mode ?? 'transient';
  if (item.mcp_runtime_hint !== undefined) entry.runtime_hint = item.mcp_runtime_hint;
  if (item.mcp_env_vars !== undefined) entry.env = item.mcp_env_vars;
  const command = item.mcp_command;
  const [first, ...rest] = typeof command === 'string' ? [command] : strings(command);
  if (first !== undefined) entry.command = first;
  const args = [...rest, ...strings(item.mcp_args)];
  if (args.length > 0) entry.args = args;
  return entry;
}

function remoteEntry(item: DataMap): DataMap {
  const entry = common(item);
  entry.transport = 'http';
  entry.url = item.mcp_server_url!;
  const headers: DataMap = Object.create(null);
  for (const [name, value] of Object.entries(stringMap(item.mcp_env_vars))) {
    headers[name.replace(/^MCP_HEADER_(?=.)/, '').replaceAll('_', '-')] = value;
  }
  if (Object.keys(headers).length > 0) entry.headers = headers;
  return entry;
}
