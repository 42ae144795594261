import type { Inspection, JournalEntry, JournalKind } from '../../fleet/fleet.js';
import { historyOf, type Sentence, stepsOf } from '../../fleet/texts/why.js';

export interface TimelineItem {
  at: string;
  text: string;
  tone: 'good' | 'bad' | 'plain';
  /** From before the daemon was started. */
  earlier: boolean;
}

const TONES: Readonly<Partial<Record<JournalKind, 'good' | 'bad'>>> = {
  ready: 'good',
  failed: 'bad',
  quarantined: 'bad',
  needs_auth: 'bad',
};

/** What happened to a server, the newest first. `isVerbose`: every step of its statecharts. */
export function timelineOf(inspection: Inspection, isVerbose: boolean): TimelineItem[] {
  const sentences = isVerbose ? stepsOf(inspection) : historyOf(inspection);
  return sentences.map(itemOf).reverse();
}

function itemOf({ at, text, step }: Sentence): TimelineItem {
  const tone = step?.kind === undefined ? undefined : TONES[step.kind];
  return { at, text, tone: tone ?? 'plain', earlier: step?.earlier === true };
}

/** The last transition of a chart by this daemon; undefined where there was none. */
export function lastStep(
  journal: readonly JournalEntry[],
  chart: JournalEntry['chart'],
): JournalEntry | undefined {
  return journal.findLast((step) => step.chart === chart && step.kind !== 'noted' && step.earlier !== true);
}

/**
 * The state of the upper chart. The snapshot of a transient server has the words of a status there: its journal has the names
 * of the chart.
 */
export function keeperState({
  status,
  snapshot,
  journal,
}: Pick<Inspection, 'status' | 'snapshot' | 'journal'>): string {
  if (status.lifecycle !== 'transient') return snapshot.keeper;
  return lastStep(journal, 'keeper')?.to ?? snapshot.keeper;
}
