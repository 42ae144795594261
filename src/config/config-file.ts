import { dirname } from 'node:path';
import { readEntry } from './entry/entry.js';
import { warnUnmeasured } from './entry/entry-rules.js';
import { uniqueEntries } from './entry/unique-entries.js';
import type { FileContext, ParsedEntry, Report } from './fields/parsed-entry.js';
import { CONFIG_KEYS, defaultSettings, readSettings } from './fields/settings.js';
import { quoteName } from './fields/shape-problems.js';
import type { HerdSpec, Settings } from './fields/spec.js';
import { type Data, type DataMap, isMap, type SourceDocument } from './parse/document.js';
import { parseYaml } from './parse/parse-yaml.js';
import { configError, type Path, type Problem } from './parse/problem.js';
import { readCluster, refuseCluster } from './read-cluster.js';
import { readHerds, refuseHerds } from './read-herds.js';
import { type FileProfiles, readProfiles } from './read-profiles.js';

interface ConfigFile {
  settings: Settings;
  entries: ParsedEntry[];
  herds: HerdSpec[];
  /** `cluster` as written. */
  cluster: DataMap | undefined;
  profiles: FileProfiles | undefined;
}

/** What there is without a config.yaml. */
export function noConfigFile(): ConfigFile {
  return { settings: defaultSettings(), entries: [], herds: [], cluster: undefined, profiles: undefined };
}

/** Reads config.yaml. Unknown keys are errors, since the whole file is ours. */
export function readConfigFile(
  document: SourceDocument,
  place: Pick<FileContext, 'folder' | 'userHome'>,
  report: Report,
  warn: Report,
): ConfigFile {
  const top = topOf(document, report);
  if (top === undefined) return noConfigFile();
  for (const key of Object.keys(top)) {
    if ((CONFIG_KEYS as readonly string[]).includes(key)) continue;
    const near = document.didYouMean(key, CONFIG_KEYS);
    const fix = near === '' ? `remove it; there are: ${CONFIG_KEYS.join(', ')}` : near;
    report(document.problem('ConfigError', [key], `Unknown key ${quoteName(key)}`, fix, 'key'));
  }
  if ((top.version ?? null) === null && Object.keys(top).length > 0) {
    warn(
      document.problem('ConfigError', [], "'version' is missing; 1.0 is assumed", 'add \'version: "1.0"\''),
    );
  }
  const { settings, problems } = readSettings(document);
  problems.forEach(report);
  if (settings.daemon.maxRss > 0) warnUnmeasured(document, ['daemon', 'max_rss'], warn);
  const context: FileContext = {
    scope: 'global',
    ...place,
    isUserOwned: true,
    allowedCommands: settings.security.allowedCommands,
    allowHttp: settings.security.allowHttp,
  };
  const items = listOf(document, top, 'mcp_servers', report);
  const entries = readEntries(document, ['mcp_servers'], items, context, report, warn);
  const cluster = readCluster(document, top, report);
  if ((top.cluster ?? null) === null) warnWithoutCluster(entries, warn);
  return {
    settings,
    entries,
    herds: readHerds(document, top, entries, report),
    cluster,
    profiles: readProfiles(document, top, report),
  };
}

function warnWithoutCluster(entries: readonly ParsedEntry[], warn: Report): void {
  for (const { document, fields, at } of entries) {
    for (const field of ['place', 'cluster'] as const) {
      if (fields[field] === undefined) continue;
      const message = `'${field}' has no effect: this config has no cluster`;
      warn(document.problem('MCPConfigError', at(field), message, "add 'cluster:', or remove it", 'key'));
    }
  }
}

/** As `readConfigFile`, from a text. Throws a ConfigError with every problem. */
export function parseConfigFile(
  file: string,
  text: string,
  warn: Report = () => undefined,
): { settings: Settings; entries: ParsedEntry[]; herds: HerdSpec[] } {
  const problems: Problem[] = [];
  const report: Report = (problem) => void problems.push(problem);
  // the home folder is needed only to read envFiles, which a text alone does not do
  const place = { folder: dirname(file), userHome: '' };
  const parsed = readConfigFile(parseYaml(file, text), place, report, warn);
  if (problems.length > 0) throw configError(problems);
  return parsed;
}

/** Reads agent.yaml: the items of `tools` that are ours. Other programs own the rest of the file. */
export function readAgentFile(
  document: SourceDocument,
  context: FileContext,
  report: Report,
  warn: Report,
): ParsedEntry[] {
  const top = topOf(document, report);
  if (top === undefined) return [];
  refuseHerds(document, report);
  refuseCluster(document, report);
  const items = listOf(document, top, 'tools', report).map((item, index) => {
    if (!isMap(item)) return undefined;
    const isUntyped = (item.type ?? null) === null;
    if (item.type === 'mcp' || (isUntyped && item.source_type === 'mcp')) return item;
    const ignored = (why: string, path: Path, fix: string) =>
      warn(document.problem('MCPConfigError', path, `This entry ${why}, so toolherd ignores it`, fix));
    if (isUntyped && typeof item.server === 'string')
      ignored('has no type', ['tools', index], "add 'type: mcp' if it is an MCP server");
    if (typeof item.type === 'string' && isMisspelledMcp(item.type))
      ignored(
        "has a type that is not 'mcp'",
        ['tools', index, 'type'],
        "write 'type: mcp' if it is an MCP server",
      );
    return undefined;
  });
  return readEntries(document, ['tools'], items, context, report, warn);
}

/** The profiles of agent.yaml. */
export function readAgentProfiles(document: SourceDocument, report: Report): FileProfiles {
  // a file that is no map is reported with its entries
  return readProfiles(document, isMap(document.value) ? document.value : {}, report);
}

/** `MCP` or `"mcp "`. Other words are types of other programs. */
function isMisspelledMcp(type: string): boolean {
  return type.trim().toLowerCase() === 'mcp';
}

function readEntries(
  document: SourceDocument,
  path: Path,
  items: readonly (Data | undefined)[],
  context: FileContext,
  report: Report,
  warn: Report,
): ParsedEntry[] {
  const entries = items.flatMap((item, index) =>
    item === undefined ? [] : (readEntry(document, [...path, index], item, context, report, warn) ?? []),
  );
  return uniqueEntries(entries, report, warn);
}

/** An empty file counts as an empty map. */
function topOf(document: SourceDocument, report: Report): DataMap | undefined {
  if (document.value === null) return Object.create(null);
  if (isMap(document.value)) return document.value;
  report(document.problem('ConfigError', [], 'The file must be a map of keys', 'write for example "tools:"'));
  return undefined;
}

function listOf(document: SourceDocument, top: DataMap, key: string, report: Report): Data[] {
  const list = top[key] ?? null;
  if (list === null) return [];
  if (Array.isArray(list)) return list;
  report(
    document.problem('ConfigError', [key], `'${key}' must be a list`, `write each entry as '- name: …'`),
  );
  return [];
}
