import { isObject } from '../../shared/json.js';
import { singleLine } from '../../shared/text/control-characters.js';
import { elapsed } from '../../shared/text/elapsed.js';
import { shellWord } from '../../shared/text/shell-word.js';
import type { ConfigProblem, Inspection, JournalEntry, JournalKind } from '../fleet.js';
import { problemLine } from './config-problems.js';
import { isInTrouble } from './server-notes.js';

/** What `why` says of one moment. `step`: the entry of the journal; absent for a problem of the config. */
export interface Sentence {
  at: string;
  text: string;
  step?: JournalEntry;
}

/** What happened to a server, the oldest first. Steps that change nothing outside of the statecharts are left out. */
export function historyOf(inspection: Inspection): Sentence[] {
  return inspection.journal.flatMap((step) => sentenceOf(step, inspection) ?? []);
}

/** Every step of the statecharts, with the names of their states. */
export function stepsOf({ journal }: Inspection): Sentence[] {
  return journal.map(stepOf);
}

/** How an npx entry is run. */
export function runnerOf({ runner = '', package: found }: Inspection['status']): string {
  if (runner !== 'direct') return `${runner.replace('plain: ', 'by npx as written, since ')}`;
  return found === undefined ? 'without npx' : `${found.name} ${found.version}, without npx`;
}

function stepOf(step: JournalEntry): Sentence {
  const { at, chart, incarnation, from, to, cause, kind, earlier } = step;
  const who = chart === 'keeper' ? 'keeper' : `${marked(earlier)}incarnation ${incarnation}`;
  if (kind === 'noted') return { at, text: `${who}: ${cause}`, step };
  return { at, text: `${who}: ${from === '' ? to : `${from} → ${to}`}, because: ${cause}`, step };
}

/** A new daemon counts the incarnations anew. */
function marked(earlier: true | undefined): string {
  return earlier === true ? 'earlier ' : '';
}

export function foundIn(problem: ConfigProblem, { last_error }: Inspection['status']): Sentence {
  return { at: last_error!.at, text: `its entry could not be resolved: ${problemLine(problem)}` };
}

export function fixesOf(problems: readonly ConfigProblem[]): string {
  const fixes = new Set(problems.map(({ fix }) => singleLine(fix)));
  return `${[...fixes].join('; ')}; toolherd reads the config again when it changes, and with "toolherd reload".`;
}

/** Undefined for a step that changes nothing outside of the statechart. */
function sentenceOf(step: JournalEntry, { server, status }: Inspection): Sentence | undefined {
  if (step.kind === undefined) return undefined;
  const cause = step.cause.replace(`${server}: `, '');
  const [noun, verb] = status.transport === 'stdio' ? ['process', 'started'] : ['connection', 'opened'];
  const text = SENTENCES[step.kind](`${marked(step.earlier)}${noun} ${step.incarnation}`, cause, verb);
  return text === undefined ? undefined : { at: step.at, text, step };
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

/** The state of a server, behind its name. */
export function stateOf(status: Inspection['status']): string {
  const { detail, state, last_error, nodes, elsewhere } = status;
  if (elsewhere === true) return stateOnNodes(detail, nodes ?? []);
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

type Nodes = NonNullable<Inspection['status']['nodes']>;

/** Of a server that does not run on this node. */
function stateOnNodes(detail: Inspection['status']['detail'], nodes: Nodes): string {
  const offered = `is offered by ${namesOf(nodes)}`;
  if (detail === 'running') return `runs on ${namesOf(nodes.filter(isConnected))}`;
  if (detail === 'idle') return `${offered}, and a call starts it there`;
  if (detail === 'quarantined') return `${offered}, and cannot take calls there`;
  return 'is offered by no node of the cluster now';
}

function nextOnNodes(detail: Inspection['status']['detail'], nodes: Nodes): string {
  if (detail === 'waiting') return 'calls fail until a node offers it; then it is used at once.';
  if (detail === 'quarantined') return 'a call is tried on these nodes all the same.';
  return `calls go to ${nodes.length === 1 ? 'that node' : 'the least busy of these nodes'}.`;
}

const isConnected = ({ state }: Nodes[number]) => state === 'connected';
const namesOf = (nodes: Nodes) => nodes.map(({ node }) => node).join(', ');

const TRIED_BY = 'with a call, or without one if its tools are not known or it is eager';

/** What happens next without a person. */
export function nextOf(inspection: Inspection, now: number): string {
  const { detail, nodes = [], elsewhere } = inspection.status;
  if (elsewhere === true) return nextOnNodes(detail, nodes);
  const able = nodes.filter(({ state }) => state === 'connected' || state === 'created');
  const next = nextHere(inspection, now);
  const isServedThere = able.length > 0 && SERVED_ELSEWHERE.has(detail);
  const isServedHere = detail === 'running' || detail === 'idle';
  if (able.length > 0 && isServedHere && isBalanced(inspection))
    return `calls go to the least busy node: this one, or ${namesOf(able)}.`;
  return isServedThere ? `calls go to other nodes meanwhile: ${namesOf(able)}. Here: ${next}` : next;
}

function isBalanced({ spec }: Inspection): boolean {
  return isObject(spec.cluster) && spec.cluster.balanced === true;
}

/** While it is in one of these, other nodes of the cluster get its calls. */
const SERVED_ELSEWHERE: ReadonlySet<string> = new Set(['waiting', 'quarantined', 'stopped', 'needs_auth']);

function nextHere({ status, journal }: Inspection, now: number): string {
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

/** What a person can do. */
export function adviceOf(status: Inspection['status']): string {
  const { name, detail, last_error, unaccepted, elsewhere, lists = {} } = status;
  if (elsewhere === true && last_error?.fix !== undefined) return `${singleLine(last_error.fix)}.`;
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
