import { type ClusterSpec, type HerdSpec, isHerd } from '../../../../config/fields/spec.js';
import { loadConfig } from '../../../../config/load.js';
import { ConfigError, type Problem } from '../../../../config/parse/problem.js';
import { agentFileOf, loadOptions } from '../../../../install/load-options.js';
import { shellWord } from '../../../../shared/text/shell-word.js';
import type { CommandContext } from '../../../core/command.js';
import { error, type Finding, ok, placed, warn, wordsOf } from './finding.js';

/** The config as a daemon would read it here, and what its servers are started with. */
export async function checkConfig(context: CommandContext): Promise<{
  findings: Finding[];
  commands: Set<string>;
  herds: HerdSpec[];
  cluster: ClusterSpec | undefined;
}> {
  const reader = 'daemon' as const;
  const options = { ...loadOptions(context, undefined), agentFile: undefined, reader };
  const agent = agentFileOf(context);
  const global = await load('config', options.configFile, options);
  const own =
    agent === undefined ? undefined : await load('agent', agent, { ...loadOptions(context, agent), reader });
  const nothing = ok('agent', 'no agent.yaml here or above');
  return {
    findings: [...global.findings, ...(own?.findings ?? [nothing])],
    herds: global.herds,
    cluster: global.cluster,
    commands: new Set([...global.commands, ...(own?.commands ?? [])]),
  };
}

async function load(
  about: string,
  file: string,
  options: Parameters<typeof loadConfig>[0],
): Promise<{
  findings: Finding[];
  commands: string[];
  herds: HerdSpec[];
  cluster?: ClusterSpec | undefined;
}> {
  try {
    const { servers, settings, warnings, redactor } = await loadConfig(options);
    const ours = servers.filter(({ origin }) => about === 'config' || origin.file === file);
    const odd = redactor.redactDeep(warnings).filter((warning) => warning.file === file);
    const commands = ours.flatMap((server) =>
      // what another node of the cluster runs needs nothing here
      server.enabled && server.transport === 'stdio' && server.cluster?.isPlacedHere !== false
        ? [server.command]
        : [],
    );
    const herds = ours.filter(isHerd);
    const counted = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;
    const count = [
      counted(ours.length - herds.length, 'server'),
      ...(herds.length === 0 ? [] : [counted(herds.length, 'herd')]),
    ].join(', ');
    const findings = odd.map(({ message, line, fix }) => warn(about, `${file}:${line}: ${message}`, fix));
    const broken = ours.flatMap(({ unusable }) =>
      unusable?.detail === 'misconfigured' ? unusable.problems.map((problem) => errorOf(about, problem)) : [],
    );
    const { cluster } = settings;
    return { findings: [ok(about, `${file}: ${count}`), ...findings, ...broken], commands, herds, cluster };
  } catch (failure) {
    return { findings: problemsOf(about, file, failure), commands: [], herds: [] };
  }
}

function errorOf(about: string, problem: Problem): Finding {
  return error(about, placed(problem), problem.fix);
}

function problemsOf(about: string, file: string, failure: unknown): Finding[] {
  if (failure instanceof ConfigError) return failure.problems.map((problem) => errorOf(about, problem));
  const { message, fix, type } = wordsOf(failure);
  const isRefusal = type === 'TrustRequiredError';
  return [
    isRefusal ? warn('trust', message, `toolherd allow ${shellWord(file)}`) : error(about, message, fix),
  ];
}
