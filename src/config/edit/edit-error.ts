import { LineIndex } from '../parse/document.js';
import { ConfigError } from '../parse/problem.js';

/** Edits work on a text and do not know its file. */
export const UNNAMED = '';

/** The error for a text that cannot be edited, with the position of the obstacle. */
export function uneditable(text: string, offset: number, message: string, fix: string): ConfigError {
  const location = new LineIndex(text).at(offset);
  return new ConfigError([{ type: 'ConfigError', message, fix, file: UNNAMED, ...location, path: '' }]);
}

/** Adds the file to the problems of an error. Only the caller that read the file knows its name. */
export function nameFile(error: unknown, file: string): unknown {
  if (!(error instanceof ConfigError) || error.problems.every((problem) => problem.file !== UNNAMED))
    return error;
  return new ConfigError(
    error.problems.map((problem) => (problem.file === UNNAMED ? { ...problem, file } : problem)),
  );
}
