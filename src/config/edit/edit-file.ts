import { type Disk, writeFileAtomically } from '../../shared/files/write-user-file.js';
import { ConfigError, configError } from '../parse/problem.js';
import { readIfExists } from '../parse/read-file.js';
import { assertOneEntryChanged } from './assert-one-entry-changed.js';
import { nameFile } from './edit-error.js';
import { parseValues } from './parse.js';
import { applyEdit, type TextEdit } from './text-edit.js';

export interface EditedFile {
  before: string;
  after: string;
  edit: TextEdit;
}

export interface EditOptions {
  disk?: Disk | undefined;
  /** Do everything but write. */
  dryRun?: boolean | undefined;
  /** Throws if the edit does something else than it should. By default it must add or remove one entry. */
  assertChange?: ((before: string, after: string) => void) | undefined;
}

/**
 * Reads, parses, validates, edits, validates again and writes; an error at any step leaves the file as it was. A file
 * that does not exist counts as an empty text, which is not validated. `validate` throws for a bad text.
 */
export async function editFile(
  path: string,
  makeEdit: (text: string) => TextEdit,
  validate: (text: string) => void | Promise<void>,
  { disk, dryRun = false, assertChange = assertOneEntryChanged }: EditOptions = {},
): Promise<EditedFile> {
  const text = readIfExists(path);
  const before = text ?? '';
  /** The positions are those of a text that is never written, and maybe of a file that does not exist. */
  const validateNew = async (after: string) => {
    try {
      await validate(after);
    } catch (error) {
      if (!(error instanceof ConfigError) || text !== undefined) throw error;
      throw configError(error.problems.map((problem) => ({ ...problem, file: `${path} (not written)` })));
    }
  };
  try {
    parseValues(before);
    if (text !== undefined) await validate(before);
    const edit = makeEdit(before);
    const after = applyEdit(before, edit);
    assertChange(before, after);
    await validateNew(after);
    const expected = text === undefined ? null : Buffer.from(text);
    if (!dryRun && after !== before) await writeFileAtomically(path, after, { expected, disk });
    return { before, after, edit };
  } catch (error) {
    throw nameFile(error, path);
  }
}
