import { realpathSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { readAgentFile, readConfigFile } from './config-file.js';
import type { SourceDocument } from './document.js';
import type { Draft, FileContext, Report } from './draft.js';
import { readEntry } from './entry.js';
import type { Outside } from './expander.js';
import { planLaunch } from './launch.js';
import { parseYaml } from './parse-yaml.js';
import { ConfigError, configError, type Problem } from './problem.js';
import { FileFault, readSmallFile } from './read-file.js';
import { Redactor } from './redactor.js';
import { disabledSpec, findUnset, resolveDraft } from './resolve.js';
import { defaultSettings } from './settings.js';
import type { ServerSpec, Settings } from './spec.js';
import type { Planned } from './trust.js';
import type { Use } from './variables.js';

export interface LoadOptions {
  /** The global config.yaml. It may be missing unless `configRequired`. */
  configFile: string;
  configRequired?: boolean;
  agentFile?: string | undefined;
  /** The folder of the user's own config: an agent file in it needs no `allow`. */
  ownFolder: string;
  /** Where allowed files are remembered; undefined: trust is not asked for (`validate`). */
  trustFile: string | undefined;
  environment: Readonly<Record<string, string | undefined>>;
  userHome: string;
  /** See Outside. */
  variables?: Outside['variables'];
}

/** A herd as its files describe it. */
export interface Loaded {
  settings: Settings;
  servers: ServerSpec[];
  warnings: Problem[];
  redactor: Redactor;
  /** Every variable that the files use, once. */
  uses: Use[];
  /** What would be pinned by `allow`. */
  agent: { file: string; text: string; planned: Planned[] } | undefined;
}

/**
 * Reads the global config and an agent file into one herd; agent entries win by name. Throws a ConfigError with every
 * problem of both files, or a TrustRequiredError. Nothing is half done: it answers with a whole herd or not at all.
 */
export async function loadConfig(options: LoadOptions): Promise<Loaded> {
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  const report: Report = (problem) => void problems.push(problem);
  const warn: Report = (problem) => void warnings.push(problem);
  const global = readGlobal(options, report, warn);
  const agent = readAgent(options, global.settings, report, warn);
  const names = new Set(agent?.drafts.map(({ name }) => name));
  const planned = plan(
    [...global.drafts.filter(({ name }) => !names.has(name)), ...(agent?.drafts ?? [])],
    report,
  );
  const ours = agent && { file: agent.file, text: agent.text, planned: planned.filter(isOf(agent.drafts)) };
  const refusal =
    ours === undefined || agent?.isOwn === true
      ? undefined
      : await trustRefusal(ours, options, global.settings);
  // Nothing of a file that was not allowed is expanded; the problems of the rest are still all shown.
  const usable = refusal === undefined ? planned : planned.filter(({ draft }) => draft.context.isOwn);
  const { servers, redactor, uses } = await resolveAll(usable, options, report);
  if (problems.length > 0) throw configError(inOrder(problems).map((problem) => redacted(problem, redactor)));
  if (refusal !== undefined) throw refusal;
  return { settings: global.settings, servers, warnings: inOrder(warnings), redactor, uses, agent: ours };
}

/** Reads one source document or entry that was handed over by the user (`register`). */
export async function loadEntry(
  document: SourceDocument,
  folder: string,
  settings: Settings,
  environment: Pick<LoadOptions, 'environment' | 'userHome' | 'variables'>,
): Promise<Omit<Loaded, 'settings' | 'agent'>> {
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  const report: Report = (problem) => void problems.push(problem);
  const { allowedCommands, allowHttp } = settings.security;
  const context: FileContext = { scope: 'registered', folder, isOwn: true, allowedCommands, allowHttp };
  const draft = readEntry(
    document,
    [],
    document.value,
    context,
    report,
    (warning) => void warnings.push(warning),
  );
  const planned = plan(draft === undefined ? [] : [draft], report);
  const resolved = await resolveAll(planned, environment, report);
  if (problems.length > 0)
    throw configError(inOrder(problems).map((problem) => redacted(problem, resolved.redactor)));
  return { ...resolved, warnings };
}

function readGlobal(
  options: LoadOptions,
  report: Report,
  warn: Report,
): { settings: Settings; drafts: Draft[] } {
  const document = readDocument(options.configFile, options.configRequired === true, report);
  if (document === undefined) return { settings: defaultSettings(), drafts: [] };
  return readConfigFile(document, folderOf(options.configFile), report, warn);
}

interface AgentFile {
  file: string;
  text: string;
  isOwn: boolean;
  drafts: Draft[];
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
  const isOwn = isInside(options.ownFolder, folder);
  const { allowedCommands, allowHttp } = settings.security;
  const context: FileContext = { scope: 'agent', folder, isOwn, allowedCommands, allowHttp };
  return { file, text: document.text, isOwn, drafts: readAgentFile(document, context, report, warn) };
}

function readDocument(file: string, isRequired: boolean, report: Report): SourceDocument | undefined {
  try {
    return parseYaml(file, readSmallFile(file));
  } catch (error) {
    if (error instanceof ConfigError) error.problems.forEach(report);
    else if (!(error instanceof FileFault)) throw error;
    else if (isRequired || !error.isMissing) {
      report({
        type: 'ConfigError',
        message: error.message,
        fix: error.fix,
        file,
        line: 1,
        column: 1,
        path: '',
      });
    }
    return undefined;
  }
}

/** Disabled and broken entries are not planned: nothing that they name is read. */
function plan(drafts: readonly Draft[], report: Report): Planned[] {
  return drafts.map((draft): Planned => {
    const isRemote = draft.transport !== 'stdio';
    if (isRemote || draft.isBroken || draft.fields.enabled === false) return { draft, launch: undefined };
    const launch = planLaunch(draft, report);
    draft.isBroken = launch === undefined;
    return { draft, launch };
  });
}

async function trustRefusal(
  agent: { file: string; text: string; planned: Planned[] },
  { trustFile }: LoadOptions,
  settings: Settings,
): Promise<Error | undefined> {
  const enabled = agent.planned.filter(({ draft }) => draft.fields.enabled !== false);
  if (trustFile === undefined || settings.security.trust === 'all' || enabled.length === 0) return undefined;
  // Loaded when needed: hashing pulls in more of Node than the rest of this command.
  const { TrustRequiredError, TrustStore, wouldRun } = await import('./trust.js');
  const verdict = await new TrustStore(trustFile).verdict(agent.file, agent.text, agent.planned);
  return verdict === 'allowed'
    ? undefined
    : new TrustRequiredError(agent.file, verdict, enabled.map(wouldRun));
}

async function resolveAll(
  planned: readonly Planned[],
  options: Pick<LoadOptions, 'environment' | 'userHome' | 'variables'>,
  report: Report,
): Promise<{ servers: ServerSpec[]; redactor: Redactor; uses: Use[] }> {
  const redactor = new Redactor();
  const uses = new Map<string, Use>();
  const outside: Outside = {
    environment: options.environment,
    userHome: options.userHome,
    redactor,
    variables: options.variables ?? 'strict',
    onUse: (use) => void uses.set(use.name, use),
  };
  const servers: ServerSpec[] = [];
  for (const { draft, launch } of planned) {
    if (draft.fields.enabled === false) servers.push(disabledSpec(draft, redactor));
    else if (draft.isBroken) await findUnset(draft, outside, report);
    else servers.push(await resolveDraft(draft, launch, outside, report));
  }
  return { servers, redactor, uses: [...uses.values()] };
}

/** Only what we say: the name of the file and the place in it are known to whoever named the file. */
function redacted(problem: Problem, redactor: Redactor): Problem {
  return { ...problem, message: redactor.redact(problem.message), fix: redactor.redact(problem.fix) };
}

function inOrder(problems: readonly Problem[]): Problem[] {
  return [...problems].sort((a, b) =>
    a.file === b.file ? a.line - b.line || a.column - b.column : a.file < b.file ? -1 : 1,
  );
}

const isOf = (drafts: readonly Draft[]) => (planned: Planned) => drafts.includes(planned.draft);

/** The folder that the user sees: a linked file is at home where the link is. */
function folderOf(file: string): string {
  return dirname(resolve(file));
}

/** True for a folder and everything in it, links followed. */
export function isInside(folder: string, path: string): boolean {
  try {
    return !relative(realpathSync(folder), realpathSync(path)).startsWith('..');
  } catch {
    return false;
  }
}
