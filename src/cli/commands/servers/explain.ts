import type { ConfigProblem, Inspection, JournalEntry, JournalKind } from '../../../fleet/fleet.js';
import type { Environment } from '../../../shared/environment.js';
import { elapsed, elapsedSince } from '../../../shared/text/elapsed.js';
import { shellWord } from '../../../shared/text/shell-word.js';
import { problemLine, withCallerVariables } from '../../core/config-problems.js';
import { quoted, singleLine } from '../../ui/text.js';
import { entryProblems, isInTrouble, listNotesOf, ownerOf, pinNoteOf } from './status-table.js';

/** `inspect` shows the whole journal. */
const MAX_SENTENCES = 10;

/**
 * What happened to a server, in sentences. `isVerbose`: every step of its statecharts, with the names of their states.
 * `environment`: that of this command.
 */
export function explainServer(
  inspection: Inspection,
  now: number,
  isVerbose: boolean,
  environment: Environment = {},
): string {
  const { server, status, journal } = inspection;
  const problems = withCallerVariables(entryProblems(status), environment);
  const sentences = [
    ...(isVerbose ? journal.map(stepOf) : journal.flatMap((step) => sentenceOf(step, inspection) ?? [])),
    ...problems.map((problem) => foundIn(problem, status)),
  ];
  const lines = sentences.slice(isVerbose ? 0 : -MAX_SENTENCES).map(({ at, text }) => {
    return `  ${`${elapsedSince(at, now)} ago`.padEnd(11)} ${singleLine(text)}`;
  });
  return [
    `${server}${ownerOf(status)} ${stateOf(status)}, since ${elapsedSince(status.since, now)}.`,
    '',
    'What happened:',
    ...(lines.length === 0 ? ['  nothing yet: it has not been called'] : lines),
    '',
    ...(status.runner === undefined ? [] : [`How it runs: ${runnerOf(status)}.`]),
    ...reasonLines(status, now),
    ...listNotesOf(status, now).map((note) => `What is missing: ${note.replace(`${server}: `, '')}`),
    ...(status.unaccepted === undefined ? [] : [`Changed tools: ${pinNoteOf(status)}`]),
    `What happens next: ${nextOf(inspection, now)}`,
    `What you can do: ${problems.length === 0 ? adviceOf(status) : fixesOf(problems)}`,
  ].join('\n');
}

function runnerOf({ runner = '', package: found }: Inspection['status']): string {
  if (runner !== 'direct') return `${runner.replace('plain: ', 'by npx as written, since ')}`;
  return found === undefined ? 'without npx' : `${found.name} ${found.version}, without npx`;
}

/** Why it failed last, while it is in trouble. */
function reasonLines(status: Inspection['status'], now: number): string[] {
  const { last_error } = status;
  if (last_error?.why === undefined || !isInTrouble(status)) return [];
  return [`Why it failed ${elapsedSince(last_error.at, now)} ago: ${quoted(last_error.why)}`, ''];
}

type Sentence = { at: string; text: string };

function stepOf({ at, chart, incarnation, from, to, cause, kind, earlier }: JournalEntry): Sentence {
  const who = chart === 'keeper' ? 'keeper' : `${marked(earlier)}incarnation ${incarnation}`;
  if (kind === 'noted') return { at, text: `${who}: ${cause}` };
  return { at, text: `${who}: ${from === '' ? to : `${from} → ${to}`}, because: ${cause}` };
}

/** A new daemon counts the incarnations anew. */
function marked(earlier: true | undefined): string {
  return earlier === true ? 'earlier ' : '';
}

function foundIn(problem: ConfigProblem, { last_error }: Inspection['status']): Sentence {
  return { at: last_error!.at, text: `its entry could not be resolved: ${problemLine(problem)}` };
}

function fixesOf(problems: readonly ConfigProblem[]): string {
  const fixes = new Set(problems.map(({ fix }) => singleLine(fix)));
  return `${[...fixes].join('; ')}; toolherd reads the config again when it changes, and with "toolherd reload".`;
}

/** Undefined for a step that changes nothing outside of the statechart. */
function sentenceOf(step: JournalEntry, { server, status }: Inspection): Sentence | undefined {
  if (step.kind === undefined) return undefined;
  const cause = step.cause.replace(`${server}: `, '');
  const [noun, verb] = status.transport === 'stdio' ? ['process', 'started'] : ['connection', 'opened'];
  const text = SENTENCES[step.kind](`${marked(step.earlier)}${noun} ${step.incarnation}`, cause, verb);
  return text === undefined ? undefined : { at: step.at, text };
}

/** `it`: the incarnation. `started`: the verb of its start. */
const SENTENCES: Readonly<
  Record<JournalKind, (it: string, cause: string, started: string) => string | undefined>
> = {
  started: (it, _, started) => `${it} is ${started}`,
  ready: (it, cause) => `${it} is ready: ${cause}`,
  failed: (it, cause) => `${it} failed: ${cause}`,
  asked_to_exit: (it, cause) => `${it} is asked to exit: ${cause}`,
  ended: (it, cause) => `${it} has ended: ${cause}`,
  starting: (_, cause) => `toolherd starts it: ${cause}`,
  restarting: () => 'toolherd starts it again at once',
  waiting: () => 'toolherd waits before it tries again',
  callable: () => undefined,
  quarantined: () => 'toolherd quarantined it: it failed too often, or a restart cannot help',
  needs_auth: () => 'toolherd waits until you authorise it',
  idle: () => 'toolherd stopped it because it was idle; the next call starts it',
  stopped: (_, cause) => `toolherd leaves it stopped: ${cause}`,
  noted: (_, cause) => `toolherd: ${cause}`,
};

function stateOf({ detail, state, last_error }: Inspection['status']): string {
  switch (detail) {
    case 'running':
      return state === 'connected' ? 'is running' : 'is being started';
    case 'idle':
      return 'is idle';
    case 'waiting':
      return 'does not run: it failed and waits for the next try';
    case 'quarantined':
      return 'is quarantined';
    case 'stopped':
      return 'is stopped';
    case 'disabled':
      return 'is disabled in its config';
    case 'needs_auth':
      return 'does not run: it needs an authorisation';
    case 'not_allowed':
      return `does not run: ${singleLine(last_error?.message ?? 'its agent.yaml is not allowed')}`;
    case 'misconfigured':
      return 'does not run: its entry in the config cannot be resolved';
  }
}

const TRIED_BY = 'with a call, or without one if its tools are not known or it is eager';

function nextOf({ status, journal }: Inspection, now: number): string {
  const { detail, state, next_retry_at } = status;
  const isCallable = journal.findLast(({ chart }) => chart === 'keeper')?.kind === 'callable';
  if (detail === 'waiting' && next_retry_at !== null) {
    const next = `it is tried again in ${elapsed(Date.parse(next_retry_at) - now)}`;
    return isCallable ? `${next}, or by the next call.` : `${next}.`;
  }
  if (detail === 'quarantined')
    return isCallable ? 'the next call tries it once.' : `one try after a pause: ${TRIED_BY}.`;
  if (detail === 'running')
    return state === 'connected' ? 'it answers calls.' : 'it is starting; calls wait for it.';
  if (detail === 'idle') return 'it is started by the next call.';
  if (detail === 'stopped') return 'nothing, until it is started.';
  if (detail === 'disabled') return 'nothing, until it is enabled in its config.';
  if (detail === 'not_allowed') return 'nothing, until its file is back and allowed.';
  if (detail === 'misconfigured') return 'nothing, until the config is read again without these problems.';
  return 'nothing, until you act.';
}

function adviceOf(status: Inspection['status']): string {
  const { name, detail, last_error, unaccepted, lists = {} } = status;
  const fix = last_error?.fix === undefined ? '' : `${singleLine(last_error.fix)}; then `;
  if (detail === 'quarantined') return `${fix}"toolherd reset ${shellWord(name)}".`;
  if (detail === 'needs_auth') return `${last_error?.fix ?? `toolherd auth ${shellWord(name)}`}.`;
  if (detail === 'waiting') return `${fix}"toolherd start ${shellWord(name)}" tries at once.`;
  if (detail === 'stopped') return `"toolherd start ${shellWord(name)}".`;
  if (detail === 'disabled') return 'set "enabled: true" in its config.';
  if (detail === 'not_allowed')
    return `${singleLine(last_error?.fix ?? '"toolherd allow", with its agent.yaml')}.`;
  if (last_error?.fix !== undefined && isInTrouble(status)) return `${singleLine(last_error.fix)}.`;
  if (unaccepted !== undefined)
    return `see the difference with "toolherd pins ${shellWord(name)}", and accept it with --accept if it is wanted.`;
  if (Object.values(lists).some(({ reason }) => reason !== undefined))
    return `see "toolherd logs ${shellWord(name)}"; "toolherd tools ${shellWord(name)} --refresh" asks at once.`;
  return 'nothing is needed.';
}
