import type { ServerSpec } from '../config/spec.js';
import type { Link } from '../link/link.js';
import type { Eater, Guest } from './budget.js';

/** An incarnation as the budget sees it; undefined `guest`: it does not make room for others. */
export function eaterOf(spec: ServerSpec, link: Link, over: Eater['over'], guest?: Guest): Eater {
  return {
    get pids() {
      return link.pids;
    },
    maxRss: spec.transport === 'stdio' ? spec.maxRss : 0,
    over,
    guest,
  };
}
