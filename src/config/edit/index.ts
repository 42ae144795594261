export { addEntry } from './add-entry.js';
export type { Disk } from './disk.js';
export { type DuplicateVerdict, duplicateOf, type EntryName, shortNameWarning } from './duplicates.js';
export { type EditedFile, type EditOptions, editFile } from './edit-file.js';
export { type FoundEntry, findEntries } from './find-entries.js';
export type { ListKey } from './locate.js';
export { removeEntry } from './remove-entry.js';
export { applySplice, invertSplice, type Splice } from './splice.js';
export { writeFileAtomically } from './write-file.js';
