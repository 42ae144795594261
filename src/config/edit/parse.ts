import { isDeepStrictEqual } from 'node:util';
import { type Document, parseDocument } from 'yaml';
import type { SourceDocument } from '../parse/document.js';
import { checkText } from '../parse/input-limits.js';
import { parseYaml } from '../parse/parse-yaml.js';
import { UNNAMED, uneditable } from './edit-error.js';

/** The values of a text, as the loader reads them. Throws a ConfigError. */
export function parseValues(text: string): SourceDocument {
  return parseYaml(UNNAMED, text);
}

/** The source tokens of a text without errors. A text over the input limits never reaches the parser. */
export function parseTokens(text: string): Document.Parsed {
  const refusal = checkText(text);
  if (refusal !== undefined) throw uneditable(text, refusal.offset, refusal.message, refusal.fix);
  const document = parseDocument(text, {
    keepSourceTokens: true,
    uniqueKeys: false,
    version: '1.2',
    schema: 'core',
    resolveKnownTags: false,
    // No warnings; `silent` would also hide the error for several documents.
    logLevel: 'error',
  });
  const error = document.errors[0];
  if (error === undefined) return document;
  // Throws with the better message.
  parseValues(text);
  throw uneditable(text, error.pos[0], 'Not valid YAML', 'correct the syntax at this place');
}

/** Whether two parsed texts say the same. An undefined value counts as absent. */
export function isSameData(one: unknown, other: unknown): boolean {
  const [first, second] = [one, other].map((value) => JSON.parse(JSON.stringify(value)));
  return isDeepStrictEqual(first, second);
}
