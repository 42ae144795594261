import { dirname, resolve } from 'node:path';
import type { Profile } from '../shared/mcp/profile.js';
import { Redactor } from '../shared/secrets/redactor.js';
import { isElsewhere, withClusterPart } from './cluster-part.js';
import { noConfigFile, readAgentFile, readAgentProfiles, readConfigFile } from './config-file.js';
import { readEntry, warnWithoutDescription } from './entry/entry.js';
import { type LaunchCommand, launchCommand } from './entry/launch-command.js';
import { disabledSpec, findUnset, misconfiguredSpec, resolveEntry } from './entry/resolve.js';
import type { FileContext, ParsedEntry, Report } from './fields/parsed-entry.js';
import type { ServerSpec, Settings } from './fields/spec.js';
import type { FileVariable, LoadedHerd, LoadOptions } from './loaded.js';
import type { SourceDocument } from './parse/document.js';
import { parseYaml } from './parse/parse-yaml.js';
import { ConfigError, configError, fileProblem, type Problem } from './parse/problem.js';
import { FileReadError, readSmallFile } from './parse/read-file.js';
import { checkProfiles, type FileProfiles } from './read-profiles.js';
import { type ResolvedCluster, resolveCluster } from './resolve-cluster.js';
import { resolveSearch } from './resolve-search.js';
import type { PlannedEntry } from './trust/trust.js';
import { isUserOwnedFile } from './trust/trusted-path.js';
import type { ExpandedPart, LoadEnvironment } from './variables/expander.js';

export type { LoadOptions };

/** What `loadConfig` returns to toolherd itself. Scripts get a `LoadedHerd`. */
export interface Loaded extends LoadedHerd {
  /** What `allow` would pin. */
  agent: AgentPlan | undefined;
}

/** An agent file, and what its entries would run. */
export interface AgentPlan {
  file: string;
  text: string;
  planned: PlannedEntry[];
  profiles: readonly Profile[];
}

/**
 * Reads the global config and an agent file into one herd; an agent entry replaces a global one of the same name.
 * Throws a ConfigError with every problem of both files, or a TrustRequiredError. The result is complete or there is
 * none, except that the herd of a daemon may hold misconfigured servers (see `reader`).
 */
export async function loadConfig(options: LoadOptions): Promise<Loaded> {
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  const misconfigured = new Map<ParsedEntry, Problem[]>();
  const report: Report = (problem) => void problems.push(problem);
  const reportGlobal = options.problemsOf === 'agent' ? ignore : report;
  const reportOf: ReportOf = (entry) => {
    if (entry.context.scope !== 'global') return report;
    if (options.reader !== 'daemon') return reportGlobal;
    return (problem) => void misconfigured.set(entry, [...(misconfigured.get(entry) ?? []), problem]);
  };
  const warn: Report = (problem) => void warnings.push(problem);
  const global = readGlobal(options, reportGlobal, warn);
  const agent = readAgent(options, global.settings, report, warn);
  const names = new Set(agent?.entries.map(({ name }) => name));
  const { loadEnvironment, uses } = loadingFrom(options);
  const { redactor } = loadEnvironment;
  // a daemon runs its herd without embeddings or the cluster rather than not at all
  const reportPart = options.reader === 'daemon' ? warn : reportGlobal;
  const cluster = clusterOf(global, options, loadEnvironment, reportPart, warn);
  const planned = plan(
    [...global.entries.filter(({ name }) => !names.has(name)), ...(agent?.entries ?? [])],
    reportOf,
    warn,
    cluster,
  );
  const herds = global.herds.map(({ name }) => name);
  // other nodes of a cluster have servers of any name
  const warnProfiles = global.cluster === undefined ? warn : ignore;
  if (global.profiles)
    checkProfiles(
      global.profiles,
      [...global.entries.map(nameOf), ...herds],
      reportGlobal,
      warnProfiles,
      herds,
    );
  if (agent)
    checkProfiles(
      agent.profiles,
      [...planned.map(({ entry }) => nameOf(entry)), ...herds],
      report,
      warnProfiles,
      herds,
    );
  const ours = agent && planOf(agent, planned.filter(isOf(agent.entries)));
  const refusal =
    ours === undefined || agent === undefined || isExempt(agent, options, global.settings)
      ? undefined
      : await trustRefusal(ours, options);
  // Nothing in a file that is not allowed is expanded. The problems of the other file are still reported.
  const usable =
    refusal === undefined ? planned : planned.filter(({ entry }) => entry.context.scope !== 'agent');
  const resolved = await resolveAll(usable, loadEnvironment, reportOf, cluster);
  const part = settingsPart(global, options);
  const searching =
    part === undefined ? global.settings : resolveSearch(global.settings, part, loadEnvironment, reportPart);
  const settings = { ...searching, cluster: cluster?.spec };
  const clean = (found: readonly Problem[]) =>
    byPosition(found).map((problem) => redacted(problem, redactor));
  if (problems.length > 0) {
    // a file that is refused is reported with all its problems
    const refused = new Set(problems.map(({ file }) => file));
    const rest = [...misconfigured].filter(([{ document }]) => refused.has(document.file));
    throw configError(clean([...problems, ...rest.flatMap(([, found]) => found)]));
  }
  if (refusal !== undefined) throw refusal;
  const configured = resolved.flatMap(({ entry, spec }) => {
    const found = misconfigured.get(entry);
    if (found !== undefined) return misconfiguredSpec(entry, configError(clean(found)), redactor);
    return spec === undefined ? [] : withClusterPart(spec, entry, cluster);
  });
  // an agent's own server may have the name of a herd
  const servers = [...configured, ...global.herds.filter(({ name }) => !names.has(name))];
  const { hasConfigFile } = global;
  const profiles = new Map(
    [...(global.profiles?.profiles ?? []), ...(agent?.profiles.profiles ?? [])].map((one) => [one.name, one]),
  );
  return {
    ...{ settings, servers, profiles, warnings: byPosition(warnings), redactor, hasConfigFile },
    uses: [...uses.values()],
    agent: ours,
  };
}

/**
 * What an agent file would run. Nothing in it is expanded and no envFile is read: the user has not allowed it yet. Throws
 * a ConfigError with the problems of the file and of the global config.
 */
export function planAgentFile(options: LoadOptions): AgentPlan | undefined {
  const problems: Problem[] = [];
  const report: Report = (problem) => void problems.push(problem);
  const { settings } = readGlobal(options, report, ignore);
  const agent = readAgent(options, settings, report, ignore);
  const planned = plan(agent?.entries ?? [], () => report, ignore);
  if (problems.length > 0) throw configError(byPosition(problems));
  return agent && planOf(agent, planned);
}

function planOf({ file, text, profiles: { profiles } }: AgentFile, planned: PlannedEntry[]): AgentPlan {
  return { file, text, planned, profiles };
}

const ignore: Report = () => undefined;

const nameOf = ({ name }: ParsedEntry): string => name;

/** The receiver of one entry's problems. */
type ReportOf = (entry: ParsedEntry) => Report;

/** Reads one entry or source document that the user passed to `register`. */
export async function loadEntry(
  document: SourceDocument,
  folder: string,
  settings: Settings,
  environment: EntryOptions,
): Promise<Omit<Loaded, 'settings' | 'agent' | 'hasConfigFile' | 'profiles'>> {
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  const report: Report = (problem) => void problems.push(problem);
  const { allowedCommands, allowHttp } = settings.security;
  const { userHome } = environment;
  const context: FileContext = {
    scope: 'registered',
    folder,
    userHome,
    isUserOwned: true,
    allowedCommands,
    allowHttp,
  };
  const warn: Report = (warning) => void warnings.push(warning);
  const entry = readEntry(document, [], document.value, context, report, warn);
  const planned = plan(entry === undefined ? [] : [entry], () => report, warn);
  const { loadEnvironment, uses } = loadingFrom(environment);
  const { redactor } = loadEnvironment;
  const resolved = await resolveAll(planned, loadEnvironment, () => report);
  if (problems.length > 0)
    throw configError(byPosition(problems).map((problem) => redacted(problem, redactor)));
  return {
    servers: resolved.flatMap(({ spec }) => spec ?? []),
    redactor,
    uses: [...uses.values()],
    warnings,
  };
}

function clusterOf(
  global: ReturnType<typeof readGlobal>,
  options: LoadOptions,
  loadEnvironment: LoadEnvironment,
  report: Report,
  warn: Report,
): ResolvedCluster | undefined {
  const part = settingsPart(global, options);
  if (part === undefined || global.cluster === undefined) return undefined;
  return resolveCluster(
    global.cluster,
    { ...part, hostName: options.hostName },
    loadEnvironment,
    report,
    warn,
  );
}

/** Where the variables of settings stand. */
function settingsPart(
  { document }: ReturnType<typeof readGlobal>,
  { configFile }: LoadOptions,
): ExpandedPart | undefined {
  return document && { document, context: { folder: folderOf(configFile) } };
}

type EntryOptions = Pick<LoadOptions, 'environment' | 'userHome' | 'variables' | 'reader'>;

function readGlobal(
  options: LoadOptions,
  report: Report,
  warn: Report,
): ReturnType<typeof readConfigFile> & { document: SourceDocument | undefined; hasConfigFile: boolean } {
  const document = readDocument(options.configFile, options.configRequired === true, report);
  if (document === undefined) return { ...noConfigFile(), document, hasConfigFile: false };
  const place = { folder: folderOf(options.configFile), userHome: options.userHome };
  return { ...readConfigFile(document, place, report, warn), document, hasConfigFile: true };
}

interface AgentFile {
  file: string;
  text: string;
  isUserOwned: boolean;
  entries: ParsedEntry[];
  profiles: FileProfiles;
}

function readAgent(
  options: LoadOptions,
  settings: Settings,
  report: Report,
  warn: Report,
): AgentFile | undefined {
  const file = options.agentFile;
  const document = file === undefined ? undefined : readDocument(file, true, report);
  if (file === undefined || document === undefined) return undefined;
  const folder = folderOf(file);
  const isUserOwned = isUserOwnedFile(options.userFolder, file);
  const { allowedCommands, allowHttp } = settings.security;
  const { userHome } = options;
  const context: FileContext = { scope: 'agent', folder, userHome, isUserOwned, allowedCommands, allowHttp };
  return {
    file,
    text: document.text,
    isUserOwned,
    entries: readAgentFile(document, context, report, warn),
    profiles: readAgentProfiles(document, report),
  };
}

function readDocument(file: string, isRequired: boolean, report: Report): SourceDocument | undefined {
  try {
    return parseYaml(file, readSmallFile(file));
  } catch (error) {
    if (error instanceof ConfigError) error.problems.forEach(report);
    else if (!(error instanceof FileReadError)) throw error;
    else if (isRequired || !error.isMissing) {
      report(fileProblem(file, error.message, error.fix));
    }
    return undefined;
  }
}

/** Entries that are disabled, broken or run elsewhere get no launch command, so no file that they name is read. */
function plan(
  entries: readonly ParsedEntry[],
  reportOf: ReportOf,
  warn: Report,
  cluster?: ResolvedCluster,
): PlannedEntry[] {
  return entries.map((entry): PlannedEntry => {
    const isRun = entry.fields.enabled !== false && !isElsewhere(entry, cluster);
    if (entry.transport !== 'stdio' || entry.isBroken || !isRun) return { entry, launch: undefined };
    const launch = launchCommand(entry, reportOf(entry));
    entry.isBroken = launch === undefined;
    if (launch?.plugin !== undefined) {
      const { description } = launch.plugin;
      if (description !== undefined) entry.fields.description ??= description;
      warnWithoutDescription(entry, warn);
    }
    return { entry, launch };
  });
}

/**
 * Whether the file may be used without being allowed. A file that runs nothing may, unless it has profiles: these choose
 * descriptions and arguments of the user's own tools.
 */
function isExempt(
  { isUserOwned, entries, profiles }: AgentFile,
  { exempt }: LoadOptions,
  { security }: Settings,
): boolean {
  if (exempt === 'none') return false;
  if (isUserOwned || security.trust === 'all') return true;
  return profiles.profiles.length === 0 && entries.every(({ fields }) => fields.enabled === false);
}

async function trustRefusal(agent: AgentPlan, { trustFile }: LoadOptions): Promise<Error | undefined> {
  if (trustFile === undefined) return undefined;
  // Imported only when needed: node:crypto loads more of Node than the rest of this command.
  const { AgentFileNotAllowedError, TrustStore, wouldRunAll } = await import('./trust/trust.js');
  const check = await new TrustStore(trustFile).check(agent.file, agent.text, agent.planned);
  if (check === 'allowed') return undefined;
  return new AgentFileNotAllowedError(agent.file, check, wouldRunAll(agent.planned));
}

interface Resolved {
  entry: ParsedEntry;
  /** Undefined for a broken entry; its problems were reported. */
  spec: ServerSpec | undefined;
}

/** What variables are expanded with, and which of them are used. */
function loadingFrom(options: EntryOptions): {
  loadEnvironment: LoadEnvironment;
  uses: ReadonlyMap<string, FileVariable>;
} {
  const redactor = new Redactor();
  const uses = new Map<string, FileVariable>();
  const loadEnvironment: LoadEnvironment = {
    environment: options.environment,
    userHome: options.userHome,
    redactor,
    variables: options.variables ?? 'strict',
    reader: options.reader ?? 'command',
    onUse: (use, file) => void uses.set(`${use.name} ${file}`, { ...use, file }),
  };
  return { loadEnvironment, uses };
}

async function resolveAll(
  planned: readonly PlannedEntry[],
  loadEnvironment: LoadEnvironment,
  reportOf: ReportOf,
  cluster?: ResolvedCluster,
): Promise<Resolved[]> {
  const resolved: Resolved[] = [];
  for (const { entry, launch } of planned) {
    const isRun = entry.fields.enabled !== false && !isElsewhere(entry, cluster);
    const spec =
      isRun || entry.isBroken
        ? await resolveOne(entry, launch, loadEnvironment, reportOf(entry))
        : disabledSpec(entry, loadEnvironment.redactor);
    resolved.push({ entry, spec });
  }
  return resolved;
}

async function resolveOne(
  entry: ParsedEntry,
  launch: LaunchCommand | undefined,
  loadEnvironment: LoadEnvironment,
  report: Report,
): Promise<ServerSpec | undefined> {
  if (entry.fields.enabled === false) return disabledSpec(entry, loadEnvironment.redactor);
  if (!entry.isBroken) return resolveEntry(entry, launch, loadEnvironment, report);
  await findUnset(entry, loadEnvironment, report);
  return undefined;
}

/** Redacts message and fix only: the caller named the file, so its path is no secret. */
function redacted(problem: Problem, redactor: Redactor): Problem {
  return { ...problem, message: redactor.redact(problem.message), fix: redactor.redact(problem.fix) };
}

function byPosition(problems: readonly Problem[]): Problem[] {
  return [...problems].sort((a, b) =>
    a.file === b.file ? a.line - b.line || a.column - b.column : a.file < b.file ? -1 : 1,
  );
}

const isOf = (entries: readonly ParsedEntry[]) => (planned: PlannedEntry) => entries.includes(planned.entry);

/** The folder of the path as given: a symlinked file belongs to the folder of the link. */
function folderOf(file: string): string {
  return dirname(resolve(file));
}
