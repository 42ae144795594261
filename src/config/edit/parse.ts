import { type Document, parseDocument } from 'yaml';
import type { SourceDocument } from '../document.js';
import { parseYaml } from '../parse-yaml.js';
import { UNNAMED, uneditable } from './edit-error.js';

/** The values of a text, as the rest of toolherd reads them. Throws a ConfigError when it cannot. */
export function parseValues(text: string): SourceDocument {
  return parseYaml(UNNAMED, text);
}

/** The source tokens of a text. Only a text that `parseValues` accepts reaches the parser: others could hurt it. */
export function parseTokens(text: string): Document.Parsed {
  parseValues(text);
  const document = parseDocument(text, {
    keepSourceTokens: true,
    uniqueKeys: false,
    version: '1.2',
    schema: 'core',
    resolveKnownTags: false,
    prettyErrors: false,
    // `silent` would also hide that there are several documents.
    logLevel: 'error',
  });
  const error = document.errors[0];
  if (error === undefined) return document;
  const several = error.code === 'MULTIPLE_DOCS';
  const message = several ? 'The file holds more than one document' : 'Not valid YAML';
  throw uneditable(text, error.pos[0], message, several ? 'keep one document' : 'correct the syntax');
}
