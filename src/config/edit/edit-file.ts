import * as nodeFs from 'node:fs/promises';
import { isCode, ToolherdError } from '../../shared/errors.js';
import { assertOneItemChanged } from './assert-one-entry-changed.js';
import type { Disk } from './disk.js';
import { nameFile } from './edit-error.js';
import { parseValues } from './parse.js';
import { applyEdit, type TextEdit } from './text-edit.js';
import { writeFileAtomically } from './write-file.js';

export interface EditedFile {
  before: string;
  after: string;
  splice: TextEdit;
}

export interface EditOptions {
  disk?: Disk | undefined;
  /** Everything but the write. */
  dryRun?: boolean | undefined;
}

/**
 * Read, parse, validate, modify, validate, write: an error at any step leaves the file as it was. A file that does not
 * exist is an empty text, which `validate` does not see. `validate` throws what it has against a text.
 */
export async function editFile(
  path: string,
  edit: (text: string) => TextEdit,
  validate: (text: string) => void | Promise<void>,
  { disk = nodeFs, dryRun = false }: EditOptions = {},
): Promise<EditedFile> {
  const bytes = await readBytes(path, disk);
  const before = bytes === null ? '' : decode(path, bytes);
  try {
    parseValues(before);
    if (bytes !== null) await validate(before);
    const splice = edit(before);
    const after = applyEdit(before, splice);
    assertOneItemChanged(before, after);
    await validate(after);
    if (!dryRun) await writeFileAtomically(path, after, { expected: bytes, disk });
    return { before, after, splice };
  } catch (error) {
    throw nameFile(error, path);
  }
}

async function readBytes(path: string, disk: Disk): Promise<Buffer | null> {
  try {
    // A pipe would block the read for ever.
    if (!(await disk.stat(path)).isFile()) throw new Error('it is not a regular file');
    return await disk.readFile(path);
  } catch (cause) {
    if (isCode(cause, 'ENOENT')) return null;
    throw new ToolherdError(`${path} could not be read`, {
      why: cause instanceof Error ? cause.message : String(cause),
      fix: 'Check the path and who may read it.',
      cause,
    });
  }
}

/** Bytes that are no UTF-8 would be written back as something else. */
function decode(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new ToolherdError(`${path} is not UTF-8`, {
      why: 'Editing it would change bytes that are not part of the edit.',
      fix: 'Save the file as UTF-8.',
      cause,
    });
  }
}
