import type { ConfigProblem, Inspection, JournalEntry } from '../../../fleet/fleet.js';
import { shellWord } from '../../../shared/text/shell-word.js';
import { type Environment, problemLine, withCallerVariables } from '../../core/config-problems.js';
import { elapsed, elapsedSince } from '../../core/duration.js';
import { quoted, singleLine } from '../../ui/text.js';
import { entryProblems, isInTrouble, listNotesOf, ownerOf, pinNoteOf } from './status-table.js';

/** The keeper's state in which a call does not wait for the next try, but makes it. */
const CALLABLE = 'waiting.callable';
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
    ...reasonLines(status, now),
    ...listNotesOf(status, now).map((note) => `What is missing: ${note.replace(`${server}: `, '')}`),
    ...(status.unaccepted === undefined ? [] : [`Changed tools: ${pinNoteOf(status)}`]),
    `What happens next: ${nextOf(inspection, now)}`,
    `What you can do: ${problems.length === 0 ? adviceOf(status) : fixesOf(problems)}`,
  ].join('\n');
}

/** Why it failed last, while it is in trouble. */
function reasonLines(status: Inspection['status'], now: number): string[] {
  const { last_error } = status;
  if (last_error?.why === undefined || !isInTrouble(status)) return [];
  return [`Why it failed ${elapsedSince(last_error.at, now)} ago: ${quoted(last_error.why)}`, ''];
}

type Sentence = { at: string; text: string };

function stepOf({ at, chart, incarnation, from, to, cause }: JournalEntry): Sentence {
  const who = chart === 'keeper' ? 'keeper' : `incarnation ${incarnation}`;
  return { at, text: `${who}: ${from === '' ? to : `${from} → ${to}`}, because: ${cause}` };
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
  const cause = step.cause.replace(`${server}: `, '');
  const text = step.chart === 'keeper' ? keeperDid(step, cause) : serverDid(step, cause, status.transport);
  return text === undefined ? undefined : { at: step.at, text };
}

function serverDid(
  { from, to, event, incarnation }: JournalEntry,
  cause: string,
  transport: string,
): string | undefined {
  const it = transport === 'stdio' ? `process ${incarnation}` : `connection ${incarnation}`;
  const isEntering = (state: string) => to.startsWith(state) && !from.startsWith(state);
  if (from === 'created' && to.startsWith('connecting')) {
    return transport === 'stdio' ? `${it} is started` : `${it} is opened`;
  }
  if (from.startsWith('connecting') && to === 'connected.discovering') return `${it} is ready: ${cause}`;
  // a start that fails is reported when it fails, not when its process has ended
  if (isEntering('connecting.aborting') && event !== 'stop') return `${it} failed: ${cause}`;
  if (to === 'error') return /closing|aborting/.test(from) ? undefined : `${it} failed: ${cause}`;
  if (isEntering('connected.closing') || isEntering('connecting.aborting')) {
    return `${it} is asked to exit: ${cause}`;
  }
  return to === 'disconnected' ? `${it} has ended: ${cause}` : undefined;
}

/** What toolherd did. */
function keeperDid({ from, to }: JournalEntry, cause: string): string | undefined {
  const [before, after] = [from.split('.')[0], to.split('.')[0]];
  if (before === 'running' && after === 'running') {
    const isAgain = from === 'running.up' && to.startsWith('running.starting');
    return isAgain ? 'toolherd starts it again at once' : undefined;
  }
  if (after === 'running') return `toolherd starts it: ${cause}`;
  if (after === 'waiting' && before === 'waiting') return undefined;
  if (after === 'waiting') return 'toolherd waits before it tries again';
  if (after === 'quarantined')
    return 'toolherd quarantined it: it failed too often, or a restart cannot help';
  if (after === 'needs_auth') return 'toolherd waits until you authorise it';
  if (after === 'idle') return 'toolherd stopped it because it was idle; the next call starts it';
  return after === 'stopped' && before !== 'running' ? `toolherd leaves it stopped: ${cause}` : undefined;
}

function stateOf({ detail, state, last_error }: Inspection['status']): string {
  switch (detail) {
    case 'running':
      return state === 'connected' ? 'is running' : 'is being started';
    case 'idle':
      return 'is idle';
    case 'waiting':
      return 'does not run: it failed and waits for the next try';
    case 'quarantined':
      return 'is quarantined: toolherd does not try it again';
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

function nextOf({ status, snapshot }: Inspection, now: number): string {
  const { detail, state, next_retry_at } = status;
  if (detail === 'waiting' && next_retry_at !== null) {
    const next = `it is tried again in ${elapsed(Date.parse(next_retry_at) - now)}`;
    return snapshot.keeper === CALLABLE ? `${next}, or by the next call.` : `${next}.`;
  }
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
