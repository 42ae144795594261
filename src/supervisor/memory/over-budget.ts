import type { ServerSpec } from '../../config/schema/spec.js';
import type { Failed } from '../../machines/ending.js';
import { mebibytes } from './memory-budget.js';

/** The end of a server that used more than its `max_rss`. */
export function overBudget(spec: ServerSpec, bytes: number): Omit<Failed, 'kind'> {
  const { name } = spec;
  const allowed = mebibytes(spec.transport === 'stdio' ? spec.maxRss : 0);
  return {
    cause: 'memory',
    message: `${name}: over its memory budget: its processes used ${mebibytes(bytes)}, and max_rss allows ${allowed}`,
    fix: `raise max_rss of ${name} if it needs that much; what it did: "toolherd logs ${name}"`,
  };
}
