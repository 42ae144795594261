export { type Disk, writeFileAtomically } from '../../shared/files/write-user-file.js';
export { addEntry } from './add-entry.js';
export { allowCommand } from './allow-command.js';
export { type EditedFile, type EditOptions, editFile } from './edit-file.js';
export { type FoundEntry, findEntries } from './find-entries.js';
export type { ListKey } from './locate.js';
export { removeEntry } from './remove-entry.js';
export { setEnabled } from './set-enabled.js';
export { applyEdit, invertEdit, type TextEdit } from './text-edit.js';
