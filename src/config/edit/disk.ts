import type * as fs from 'node:fs/promises';

/** What an edit asks of the file system; a test gives one that fails. */
export type Disk = Pick<
  typeof fs,
  'access' | 'lstat' | 'mkdir' | 'open' | 'readFile' | 'readlink' | 'realpath' | 'rename' | 'stat' | 'unlink'
>;
