import { LineIndex } from '../parse/document.js';
import { ConfigError } from '../parse/problem.js';

/** The edits know a text, not its file. */
export const UNNAMED = '';

/** The text cannot be edited as asked, and this is the location that stands in the way. */
export function uneditable(text: string, offset: number, message: string, fix: string): ConfigError {
  const location = new LineIndex(text).at(offset);
  return new ConfigError([{ type: 'ConfigError', message, fix, file: UNNAMED, ...location, path: '' }]);
}

/** The same error with the file named, which only the one who read it can. */
export function nameFile(error: unknown, file: string): unknown {
  if (!(error instanceof ConfigError) || error.problems.every((problem) => problem.file !== UNNAMED))
    return error;
  return new ConfigError(
    error.problems.map((problem) => (problem.file === UNNAMED ? { ...problem, file } : problem)),
  );
}
