import type { SourceDocument } from '../parse/document.js';
import type { Path } from '../parse/problem.js';
import type { Report } from './parsed-entry.js';

/** A budget of memory where nobody can measure it would be a promise that is not kept. */
export function warnUnmeasured(document: SourceDocument, path: Path, warn: Report): void {
  if (process.platform === 'linux') return;
  const message = `'max_rss' has no effect here: memory is measured on Linux only, not on ${process.platform}`;
  const fix = 'remove it, or bound the memory with the means of the system';
  warn(document.problem('ConfigError', path, message, fix));
}
