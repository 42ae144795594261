import { didYouMean } from '../config/near-miss.js';
import { UsageError } from './verb.js';
import { VERBS } from './verbs.js';

export function unknownVerb(name: string): UsageError {
  const near = didYouMean(name, Object.keys(VERBS));
  const fix = near === '' ? "see 'toolherd help'" : `${near} See 'toolherd help'`;
  return new UsageError(`unknown command '${name}'`, fix);
}
