import { type Disk, writeFileAtomically } from '../../shared/files/write-user-file.js';
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
}

/**
 * Reads, parses, validates, edits, validates again and writes; an error at any step leaves the file as it was. A file
 * that does not exist counts as an empty text, which is not validated. `validate` throws for a bad text.
 */
export async function editFile(
  path: string,
  makeEdit: (text: string) => TextEdit,
  validate: (text: string) => void | Promise<void>,
  { disk, dryRun = false }: EditOptions = {},
): Promise<EditedFile> {
  const text = readIfExists(path);
  const before = text ?? '';
  try {
    parseValues(before);
    if (text !== undefined) await validate(before);
    const edit = makeEdit(before);
    const after = applyEdit(before, edit);
    assertOneEntryChanged(before, after);
    await validate(after);
    const expected = text === undefined ? null : Buffer.from(text);
    if (!dryRun) await writeFileAtomically(path, after, { expected, disk });
    return { before, after, edit };
  } catch (error) {
    throw nameFile(error, path);
  }
}
