import { fileURLToPath } from 'node:url';

/** A file of bench/, which is plain JavaScript and has no types. */
export const load = (file: string) => import(fileURLToPath(new URL(`../../bench/${file}`, import.meta.url)));
