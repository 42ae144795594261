/**
 * Layer 0: a machine's full transition table as text. Every state, every event that can reach it, and what it does: where it
 * goes and what it sets off, or why it is ignored. It is kept beside this file and reviewed like code, because a walk
 * over the machine's own graph would find any machine right.
 */
import {
  type AnyStateMachine,
  type EventFromLogic,
  type EventObject,
  type SnapshotFrom,
  transition,
} from 'xstate';

export interface Ignored {
  event: RegExp;
  in: RegExp;
  because: string;
}

export interface TableOptions<TSnapshot, TEvent> {
  /** A snapshot for each row's state, by its title. */
  states: ReadonlyMap<string, TSnapshot>;
  events: (state: TSnapshot) => Readonly<Record<string, TEvent>>;
  name: (state: TSnapshot) => string;
  /** What changed in the context, in words. */
  changes: (before: TSnapshot, after: TSnapshot) => string[];
  ignored: readonly Ignored[];
}

export function transitionTable<TMachine extends AnyStateMachine>(
  machine: TMachine,
  {
    states,
    events,
    name: nameOf,
    changes,
    ignored,
  }: TableOptions<SnapshotFrom<TMachine>, EventFromLogic<TMachine>>,
): string {
  const unused = new Set(ignored);
  const because = (title: string, event: string): string => {
    const reasons = ignored.filter((one) => one.event.test(event) && one.in.test(title));
    for (const reason of reasons) unused.delete(reason);
    if (reasons.length !== 1)
      throw new Error(`${event} is ignored in ${title}; reasons given: ${reasons.length}`);
    return `- ${reasons[0]?.because}`;
  };
  const sections = [...states].map(([title, before]) => {
    const rows = Object.entries(events(before)).map(([name, event]) => {
      const [after, actions] = transition(machine, before, event);
      const effects = [...changes(before, after), ...actions.map(effect).filter((one) => one !== undefined)];
      const isIgnored = nameOf(after) === nameOf(before) && effects.length === 0;
      const what = isIgnored ? because(title, name) : [nameOf(after), ...effects].join(' · ');
      return `  ${name.padEnd(28)} ${what}`;
    });
    return [title, ...rows, ''].join('\n');
  });
  if (unused.size > 0) throw new Error(`never ignored: ${[...unused].map((one) => one.because).join('; ')}`);
  return sections.join('\n');
}

export function delayOf(afterEvent: string): string {
  return afterEvent.split('.')[2] ?? '';
}

interface Effect {
  type: string;
  params?: unknown;
}

function effect({ type, params }: Effect): string | undefined {
  const given = (params ?? {}) as {
    id?: string;
    sendId?: string;
    to?: { id?: string };
    event?: EventObject & { process?: number; purpose?: string };
    delay?: number;
  };
  switch (type) {
    case 'xstate.sendTo':
      return `tell ${given.to?.id} ${given.event?.type}`;
    case 'xstate.raise':
      return given.delay === undefined
        ? undefined
        : `in ${given.delay} ms ${delayOf(given.event?.type ?? '')}`;
    case 'xstate.emit':
      return emitted(given.event);
    case 'xstate.spawnChild':
      return `begin ${given.id}`;
    case 'xstate.stopChild':
      return `end ${given.id}`;
    // A timer ends with the state that set it: said once, here.
    case 'xstate.cancel':
      return undefined;
    default:
      return type;
  }
}

function emitted(event: (EventObject & { process?: number; purpose?: string }) | undefined): string {
  const purpose = event?.purpose && `for ${event.purpose}`;
  return ['emit', event?.type, event?.process, purpose].filter((word) => word !== undefined).join(' ');
}
