import type { DataMap, SourceDocument } from '../parse/document.js';
import type { Path, Problem } from '../parse/problem.js';
import type { FieldName } from '../schema/fields.js';
import type { Origin, Transport } from '../schema/spec.js';

/** What a file may do depends on whose it is. */
export interface FileContext {
  scope: Origin['scope'];
  /** The folder that relative paths start from. */
  folder: string;
  /** A file of the user's own, as opposed to one that came with a project. */
  isUserOwned: boolean;
  allowedCommands: readonly string[];
  allowHttp: readonly string[];
}

/**
 * An entry whose shape is right and whose spelling is settled (aliases, nested transport, legacy form), with nothing
 * expanded and nothing read: this is as far as a file that was not allowed ever gets.
 */
export interface ParsedEntry {
  document: SourceDocument;
  path: Path;
  context: FileContext;
  name: string;
  server: string;
  transport: Transport;
  /** The fields by their canonical names, null ones left out. */
  fields: Partial<Record<FieldName, DataMap[string]>>;
  /** Fields that are there in a wrong shape or under a wrong name: not to be called missing as well. */
  fieldsInError: ReadonlySet<string>;
  /** Something in it is wrong, and was reported: it is only looked at any further to find what else is. */
  isBroken: boolean;
  /** Where a field stands in the document, under the name it has there. */
  at(field: FieldName, ...deeper: Path): Path;
}

export type Report = (problem: Problem) => void;

/** A list of the strings of a field that was checked to be one. */
export function strings(value: DataMap[string] | undefined): string[] {
  return Array.isArray(value) ? (value as string[]) : [];
}

/** A map of strings of a field that was checked to be one. */
export function stringMap(value: DataMap[string] | undefined): Record<string, string> {
  return typeof value === 'object' && value !== null
    ? (value as Record<string, string>)
    : Object.create(null);
}
