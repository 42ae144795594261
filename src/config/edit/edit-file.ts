import { readIfExists } from '../parse/read-file.js';
import { assertOneItemChanged } from './assert-one-entry-changed.js';
import { nameFile } from './edit-error.js';
import { parseValues } from './parse.js';
import { applyEdit, type TextEdit } from './text-edit.js';
import { type Disk, writeFileAtomically } from './write-file.js';

export interface EditedFile {
  before: string;
  after: string;
  edit: TextEdit;
}

export interface EditOptions {
  disk?: Disk | undefined;
  /** Everything but the write. */
  dryRun?: boolean | undefined;
}

/**
 * Read, parse, validate, modify, validate, write: an error at any step tokens the file as it was. A file that does not
 * exist is an empty text, which `validate` does not see. `validate` throws what it has against a text.
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
    assertOneItemChanged(before, after);
    await validate(after);
    const expected = text === undefined ? null : Buffer.from(text);
    if (!dryRun) await writeFileAtomically(path, after, { expected, disk });
    return { before, after, edit };
  } catch (error) {
    throw nameFile(error, path);
  }
}
