import type { DataMap, SourceDocument } from '../parse/document.js';
import type { Path, Problem } from '../parse/problem.js';
import type { FieldName } from './entry-fields.js';
import type { Origin } from './spec.js';
import type { Transport } from './transports.js';

/** What an entry may do depends on who owns its file. */
export interface FileContext {
  scope: Origin['scope'];
  /** The folder that relative paths start from. */
  folder: string;
  userHome: string;
  /** True for the user's own file, false for one of a project. */
  isUserOwned: boolean;
  allowedCommands: readonly string[];
  allowHttp: readonly string[];
}

/**
 * An entry of the right shape, in normal form (aliases, nested transport and legacy form resolved), with nothing
 * expanded and no file read. An entry of a file that is not allowed gets no further than this.
 */
export interface ParsedEntry {
  document: SourceDocument;
  path: Path;
  context: FileContext;
  name: string;
  server: string;
  transport: Transport;
  /** The fields by their canonical names, without null values. */
  fields: Partial<Record<FieldName, DataMap[string]>>;
  /** Fields with a wrong shape or a misspelled name. They must not be reported as missing too. */
  fieldsInError: ReadonlySet<string>;
  /** It has problems that were reported. It is checked further only to find the other ones. */
  isBroken: boolean;
  /** The path of a field in the document, under the name it has there. */
  at(field: FieldName, ...deeper: Path): Path;
}

export type Report = (problem: Problem) => void;

/** The strings of a field that was checked to be a list of strings. */
export function strings(value: DataMap[string] | undefined): string[] {
  return Array.isArray(value) ? (value as string[]) : [];
}

/** The strings of a field that was checked to be a map of strings. */
export function stringMap(value: DataMap[string] | undefined): Record<string, string> {
  return typeof value === 'object' && value !== null
    ? (value as Record<string, string>)
    : Object.create(null);
}
