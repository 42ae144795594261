import type { Inspection } from '../../../fleet/fleet.js';
import { withCallerVariables } from '../../../fleet/texts/config-problems.js';
import {
  entryProblems,
  isInTrouble,
  listNotesOf,
  ownerOf,
  pinNoteOf,
} from '../../../fleet/texts/server-notes.js';
import {
  adviceOf,
  fixesOf,
  foundIn,
  historyOf,
  nextOf,
  runnerOf,
  stateOf,
  stepsOf,
} from '../../../fleet/texts/why.js';
import type { Environment } from '../../../shared/environment.js';
import { elapsedSince } from '../../../shared/text/elapsed.js';
import { quoted, singleLine } from '../../ui/text.js';

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
  const { server, status } = inspection;
  const problems = withCallerVariables(entryProblems(status), environment);
  const sentences = [
    ...(isVerbose ? stepsOf(inspection) : historyOf(inspection)),
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

/** Why it failed last, while it is in trouble. */
function reasonLines(status: Inspection['status'], now: number): string[] {
  const { last_error } = status;
  if (last_error?.why === undefined || !isInTrouble(status)) return [];
  return [`Why it failed ${elapsedSince(last_error.at, now)} ago: ${quoted(last_error.why)}`, ''];
}
