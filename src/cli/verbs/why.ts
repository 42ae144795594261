import type { Inspection, JournalEntry } from '../../ipc/fleet.js';
import { EXIT } from '../exit-codes.js';
import { oneLine } from '../plain-text.js';
import { ago, duration } from '../table.js';
import { UsageError, type Verb } from '../verb.js';

export const verb: Verb = {
  usage: 'why SERVER',
  about: 'Tells the story of a server: what happened, what toolherd did, what happens next, what you can do.',
  help: 'Example:\n  toolherd why github',
  options: {},
  most: 1,
  async run(call) {
    const [name] = call.args;
    if (name === undefined) throw new UsageError('name a server', 'usage: toolherd why SERVER');
    const fleet = await call.fleet();
    const inspection = await fleet.inspect(name);
    const { status, snapshot, journal } = inspection;
    call.output.json({ server: name, status, snapshot, journal });
    call.output.print(tell(inspection, Date.now()));
    return EXIT.ok;
  },
};

/** The last few steps are enough: the whole journal is in `inspect`. */
const STEPS = 12;

export function tell({ server, status, journal }: Inspection, now: number): string {
  const steps = journal.slice(-STEPS);
  return [
    `${server} is ${status.state} (${status.detail}) since ${ago(status.since, now)}.`,
    '',
    'What happened:',
    ...(steps.length === 0 ? ['  nothing yet'] : steps.map((step) => `  ${line(step, now)}`)),
    '',
    `What happens next: ${next(status, now)}`,
    `What you can do: ${advice(status)}`,
  ].join('\n');
}

function line({ at, chart, incarnation, from, to, cause }: JournalEntry, now: number): string {
  const who = chart === 'keeper' ? 'keeper' : `process ${incarnation}`;
  const step = from === '' ? to : `${from} → ${to}`;
  return `${`${ago(at, now)} ago`.padEnd(11)} ${who}: ${step}, because: ${oneLine(cause)}`;
}

function next({ detail, state, next_retry_at }: Inspection['status'], now: number): string {
  if (detail === 'waiting' && next_retry_at !== null) {
    return `it is started again in ${duration(Date.parse(next_retry_at) - now)}.`;
  }
  if (detail === 'running')
    return state === 'connected' ? 'it answers calls.' : 'it is on its way; calls wait for it.';
  if (detail === 'idle') return 'it is started by the next call.';
  if (detail === 'stopped') return 'nothing, until it is started.';
  if (detail === 'disabled') return 'nothing, until it is enabled in its config.';
  if (detail === 'not_allowed') return 'nothing, until its file is allowed again.';
  return 'nothing, until somebody acts.';
}

function advice({ name, detail, last_error }: Inspection['status']): string {
  const fix = last_error?.fix === undefined ? '' : `${last_error.fix}; then `;
  if (detail === 'quarantined') return `${fix}"toolherd reset ${name}".`;
  if (detail === 'needs_auth') return `${last_error?.fix ?? `toolherd auth ${name}`}.`;
  if (detail === 'waiting') return `${fix}"toolherd start ${name}" tries at once.`;
  if (detail === 'stopped') return `"toolherd start ${name}".`;
  if (detail === 'disabled') return 'set "enabled: true" in its config.';
  if (detail === 'not_allowed') return '"toolherd allow", with its agent.yaml.';
  return 'nothing is needed.';
}
