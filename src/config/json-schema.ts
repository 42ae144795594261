import * as z from 'zod/mini';
import { CLUSTER_FIELDS, clusterShape } from './fields/cluster.js';
import { type Default, defaultText } from './fields/defaults.js';
import { ENTRY, FIELDS, type FieldName } from './fields/entry-fields.js';
import { HERD_FIELDS, herdShape } from './fields/herd.js';
import { PROFILE_FIELDS, PROFILE_NAME, profileShape } from './fields/profile.js';
import { SETTINGS, type Section, sectionShape, versionShape } from './fields/settings.js';
import { TRANSPORT_NAMES, TRANSPORTS, type Transport, toTransport } from './fields/transports.js';
import { SOURCE } from './packages/source-document.js';

type Schema = Record<string, unknown>;

const NULL = { type: 'null' };

/** The JSON Schema of one of the two files, for editors. It is made from the shapes that the loader checks. */
export function fileSchema(kind: 'agent' | 'config'): Schema {
  const title = kind === 'agent' ? 'agent.yaml' : 'config.yaml';
  const $defs = { entry: entrySchema(kind), source: strip(z.toJSONSchema(SOURCE, { io: 'input' })) };
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: `toolherd ${title}`,
    ...(kind === 'agent' ? agentSchema() : configSchema()),
    $defs,
  };
}

const ENTRY_REF = { $ref: '#/$defs/entry' };
const SOURCE_REF = { $ref: '#/$defs/source' };
const isSource = { type: 'object', required: ['source_type'] };

/** Describes only the items of `tools` that are ours; other programs own the rest of the file. */
function agentSchema(): Schema {
  const isMcp = { const: 'mcp' };
  const isOurs = { type: 'object', required: ['type'], properties: { type: isMcp } };
  const isOurSource = { ...isSource, properties: { source_type: isMcp, type: NULL } };
  const items = { if: isOurSource, then: SOURCE_REF, else: { if: isOurs, then: ENTRY_REF } };
  return {
    type: ['object', 'null'],
    properties: { tools: { type: ['array', 'null'], items }, profiles: profilesSchema() },
  };
}

function configSchema(): Schema {
  const section = (name: Section) => {
    const schema = strip(z.toJSONSchema(sectionShape(name), { io: 'input' }));
    const properties = schema.properties as Record<string, Schema>;
    for (const [key, setting] of Object.entries<{ about: string; default: Default }>(SETTINGS[name])) {
      properties[key]!.description = descriptionOf(setting);
    }
    return { anyOf: [schema, NULL] };
  };
  return {
    type: ['object', 'null'],
    additionalProperties: false,
    properties: {
      version: { anyOf: [strip(z.toJSONSchema(versionShape(), { io: 'input' })), NULL] },
      mcp_servers: { type: ['array', 'null'], items: { if: isSource, then: SOURCE_REF, else: ENTRY_REF } },
      herds: herdsSchema(),
      cluster: clusterSchema(),
      profiles: profilesSchema(),
      daemon: section('daemon'),
      search: section('search'),
      security: section('security'),
    },
  };
}

function herdsSchema(): Schema {
  const herd = strip(z.toJSONSchema(herdShape(), { io: 'input' }));
  const properties = herd.properties as Record<string, Schema>;
  for (const [key, field] of Object.entries(HERD_FIELDS)) properties[key]!.description = descriptionOf(field);
  const has = (name: string) => ({ required: [name], properties: { [name]: { not: NULL } } });
  return {
    type: ['array', 'null'],
    description: 'Herds of other machines, whose servers belong to this one too.',
    items: { ...herd, oneOf: [has('ssh'), has('socket')] },
  };
}

function clusterSchema(): Schema {
  const cluster = strip(z.toJSONSchema(clusterShape(), { io: 'input' }));
  const properties = cluster.properties as Record<string, Schema>;
  for (const [key, field] of Object.entries(CLUSTER_FIELDS))
    properties[key]!.description = descriptionOf(field);
  const description = 'Makes the daemon a node of a cluster, whose nodes use the servers of each other.';
  return { description, anyOf: [cluster, NULL] };
}

function profilesSchema(): Schema {
  const profile = strip(z.toJSONSchema(profileShape(), { io: 'input' }));
  const properties = profile.properties as Record<string, Schema>;
  for (const [key, field] of Object.entries(PROFILE_FIELDS))
    properties[key]!.description = descriptionOf(field);
  return {
    type: ['object', 'null'],
    description: 'Named parts of the herd.',
    propertyNames: { pattern: PROFILE_NAME.source },
    additionalProperties: { anyOf: [profile, NULL] },
  };
}

function entrySchema(kind: 'agent' | 'config'): Schema {
  const schema = strip(z.toJSONSchema(ENTRY, { io: 'input' }));
  const properties = schema.properties as Record<string, Schema>;
  const required = schema.required as string[];
  for (const [name, field] of Object.entries(FIELDS)) {
    if (kind === 'agent' && field.group === 'cluster') {
      properties[name] = { description: descriptionOf(field), ...NULL };
      continue;
    }
    const plain = properties[name]!;
    properties[name] = {
      description: descriptionOf(field),
      ...(required.includes(name) ? plain : { anyOf: [plain, NULL] }),
    };
  }
  return { ...schema, allOf: TRANSPORTS.map(rulesOf) };
}

/** What an editor shows beside a key. */
function descriptionOf({ about, default: value }: { about: string; default: Default }): string {
  return value === 'required' || value === 'none' ? about : `${about} Default: ${defaultText(value)}`;
}

/** The rules for entries of one transport: required fields, and fields of other transports. */
function rulesOf(transport: Transport): Schema {
  const spellings = TRANSPORT_NAMES.filter((name) => toTransport(name) === transport);
  const isNamed = {
    anyOf: [{ enum: spellings }, { type: 'object', properties: { type: { enum: spellings } } }],
  };
  const isIt = { required: ['transport'], properties: { transport: isNamed } };
  const isDefault = { not: { required: ['transport'], properties: { transport: { not: NULL } } } };
  const foreign = (Object.keys(FIELDS) as FieldName[]).filter((name) => !isFor(name, transport));
  return {
    if: transport === 'stdio' ? { anyOf: [isIt, isDefault] } : isIt,
    then: {
      allOf: [{ properties: Object.fromEntries(foreign.map((name) => [name, NULL])) }, needs(transport)],
    },
  };
}

function needs(transport: Transport): Schema {
  const has = (name: string) => ({ required: [name], properties: { [name]: { not: NULL } } });
  if (transport !== 'stdio') return has('url');
  const legacy = { properties: { server: { pattern: '^@[^/\\s]+/[^/\\s]+$' }, transport: NULL } };
  return { anyOf: [has('command'), has('plugin_dir'), legacy] };
}

function isFor(name: FieldName, transport: Transport): boolean {
  return (FIELDS[name].for as readonly string[]).includes(transport);
}

function strip(schema: object): Schema {
  const { $schema: _, ...rest } = schema as Schema;
  return rest;
}
