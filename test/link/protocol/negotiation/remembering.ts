import type { Era, EraMemory } from '../../../../src/link/protocol/negotiation/era-cache.js';

/** The era memory of one server, with a record of every change. */
export function remembering(era?: Era): EraMemory & { told: string[] } {
  let known = era;
  const told: string[] = [];
  const tell = (what: string, next: Era | undefined) => {
    told.push(next === undefined ? what : `${what} ${next}`);
    known = next;
  };
  return {
    told,
    recall: () => known,
    keep: (next) => tell('keep', next),
    presume: (next) => tell('presume', next),
    forget: () => tell('forget', undefined),
  };
}
