import { basename, dirname, resolve } from 'node:path';
import { type Loaded, type LoadOptions, loadConfig, loadEntry } from '../../../config/load.js';
import { isMap } from '../../../config/parse/document.js';
import { parseYaml } from '../../../config/parse/parse-yaml.js';
import { ConfigError, fileProblem, type Problem } from '../../../config/parse/problem.js';
import { FileReadError, readIfExists, readSmallFile } from '../../../config/parse/read-file.js';
import { ENVIRONMENT } from '../../../config/variables/variables.js';
import type { FleetStatus } from '../../../fleet/fleet.js';
import { NOT_IN_DAEMON, onlyCallerHas } from '../../../fleet/texts/config-problems.js';
import { entryProblems } from '../../../fleet/texts/server-notes.js';
import { agentFileOf, loadOptions } from '../../../install/load-options.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { type CommandContext, defineCommand } from '../../core/command.js';
import { problemText } from '../../core/report-error.js';
import { limitByTimeoutOption } from '../../core/timeout.js';

type Kind = 'config' | 'agent' | 'source';

/** What `validate` found in one file. */
interface FileReport {
  file: string;
  kind: Kind;
  ok: boolean;
  servers: { name: string; transport: string; enabled: boolean }[];
  problems: readonly Problem[];
  warnings: readonly Problem[];
  variables: Variable[];
}

interface Variable {
  name: string;
  resolved: boolean;
  from: string | undefined;
  /** False: it is set for this command, but not for the running daemon. */
  in_daemon?: false;
}

export const command = defineCommand({
  name: 'validate',
  summary: 'Checks config files without running anything.',
  details: `Without FILE it checks the global config and the nearest agent.yaml.
It says which variables are set, and shows no value.
The files need not be allowed.`,
  args: { files: { label: 'FILE', optional: true, many: true } },
  examples: ['toolherd validate', 'toolherd validate agent.yaml', 'toolherd validate source.json --json'],
  exits: { ok: 'the files are good', badConfig: 'a file is wrong' },
  async run(context) {
    const named = context.args.files.map((file) => ({ file: resolve(context.cwd, file), kind: undefined }));
    const missing = await missingInDaemon(context);
    const reports: FileReport[] = [];
    for (const { file, kind } of named.length > 0 ? named : defaultFiles(context)) {
      reports.push(markMissing(await check(context, file, kind), missing));
    }
    const ok = reports.every((report) => report.ok);
    context.output.json({ ok, files: reports });
    for (const report of reports) show(context, report);
    if (reports.length === 0)
      context.output.print('nothing to check: there is no config.yaml and no agent.yaml');
    return ok ? EXIT.ok : EXIT.badConfig;
  },
});

/** Maximum wait for a daemon, from the connection to its answer. */
const PATIENCE_MS = 2000;

/** Variables that are not set in a running daemon, so that servers of it are misconfigured. */
async function missingInDaemon(context: CommandContext): Promise<ReadonlySet<string>> {
  try {
    const { servers } = await limitByTimeoutOption({ globals: { timeout: PATIENCE_MS } }, askDaemon(context));
    return new Set(servers.flatMap(entryProblems).flatMap(({ variable }) => variable ?? []));
  } catch {
    // `doctor` reports on the daemon
    return new Set();
  }
}

async function askDaemon(context: CommandContext): Promise<FleetStatus> {
  // the same limit for its hello: an open connection would keep this process alive
  const fleet = await context.fleet({ autostart: false, viewMode: 'herd', timeoutMs: PATIENCE_MS });
  return fleet.status();
}

function markMissing(report: FileReport, missing: ReadonlySet<string>): FileReport {
  const variables = report.variables.map((variable): Variable => {
    const isMissing = variable.from === ENVIRONMENT && missing.has(variable.name);
    return isMissing ? { ...variable, in_daemon: false } : variable;
  });
  return { ...report, variables };
}

/** The files that a daemon would read here, as far as they exist. */
function defaultFiles(context: CommandContext): { file: string; kind: Kind }[] {
  const { configFile, configRequired } = loadOptions(context);
  const agent = agentFileOf(context);
  const hasConfig = configRequired === true || exists(configFile);
  return [
    ...(hasConfig ? [{ file: configFile, kind: 'config' as const }] : []),
    ...(agent === undefined ? [] : [{ file: agent, kind: 'agent' as const }]),
  ];
}

/** A file that exists and cannot be read is reported as such. */
function exists(file: string): boolean {
  try {
    return readIfExists(file) !== undefined;
  } catch {
    return true;
  }
}

async function check(context: CommandContext, file: string, known: Kind | undefined): Promise<FileReport> {
  let kind = known ?? 'agent';
  try {
    kind = known ?? kindOf(file);
    return reportOf(file, kind, await load(context, file, kind));
  } catch (error) {
    const problems = problemsOf(error, file);
    return { file, kind, ok: false, servers: [], problems, warnings: [], variables: [] };
  }
}

async function load(
  context: CommandContext,
  file: string,
  kind: Kind,
): Promise<Omit<Loaded, 'agent' | 'hasConfigFile' | 'profiles'>> {
  const options: LoadOptions = {
    ...loadOptions(context, undefined),
    agentFile: undefined,
    trustFile: undefined,
    // each file is reported with its own problems
    problemsOf: kind === 'config' ? 'all' : 'agent',
  };
  if (kind === 'config') return loadConfig({ ...options, configFile: file, configRequired: true });
  if (kind === 'agent') return onlyOf(file, await loadConfig({ ...options, agentFile: file }));
  const { parseJson } = await import('../../../config/parse/parse-json.js');
  const { settings } = await loadConfig(options);
  const document = parseJson(file, readSmallFile(file));
  return { settings, ...(await loadEntry(document, dirname(file), settings, options)) };
}

/** An agent file is loaded with the global config, but the report is about the agent file alone. */
function onlyOf(file: string, loaded: Loaded): Loaded {
  return {
    ...loaded,
    servers: loaded.servers.filter(({ origin }) => origin.file === file),
    warnings: loaded.warnings.filter((warning) => warning.file === file),
    uses: loaded.uses.filter((use) => use.file === file),
  };
}

function kindOf(file: string): Kind {
  if (file.endsWith('.json')) return 'source';
  const name = basename(file);
  if (name === 'agent.yaml' || name === 'config.yaml') return name === 'agent.yaml' ? 'agent' : 'config';
  const { value } = parseYaml(file, readSmallFile(file));
  return isMap(value) && ['mcp_servers', 'herds'].some((key) => Object.hasOwn(value, key))
    ? 'config'
    : 'agent';
}

function problemsOf(error: unknown, file: string): readonly Problem[] {
  if (error instanceof ConfigError) return error.problems;
  if (!(error instanceof FileReadError)) throw error;
  return [fileProblem(file, error.message, error.fix)];
}

function reportOf(
  file: string,
  kind: Kind,
  loaded: Omit<Loaded, 'agent' | 'hasConfigFile' | 'profiles'>,
): FileReport {
  return {
    file,
    kind,
    ok: true,
    servers: loaded.servers.map(({ name, transport, enabled }) => ({ name, transport, enabled })),
    problems: [],
    warnings: loaded.redactor.redactDeep(loaded.warnings),
    variables: loaded.uses.map(({ name, value, from }) => ({ name, resolved: value !== undefined, from })),
  };
}

function show({ output }: CommandContext, report: FileReport): void {
  if (output.isJson) return;
  if (report.warnings.length > 0) output.note(problemText(report.warnings, 'warning'));
  if (report.problems.length > 0) output.error(problemText(report.problems, 'error'));
  if (!report.ok) {
    const count = report.problems.length;
    output.print(`${report.file}: ${count} ${count === 1 ? 'problem' : 'problems'}`);
    return;
  }
  output.print(`${report.file}: ok`);
  const width = Math.max(0, ...report.servers.map(({ name }) => name.length));
  for (const { name, transport, enabled } of report.servers) {
    output.print(`  ${name.padEnd(width)}  ${transport}${enabled ? '' : '  (disabled)'}`);
  }
  for (const { name, from, in_daemon } of report.variables) {
    const but = in_daemon === false ? `, ${NOT_IN_DAEMON}; ${onlyCallerHas(name).fix}` : '';
    output.print(`  \${${name}} is set (${from})${but}`);
  }
}
