import { SEPARATORS } from '../../../shared/mcp/separators.js';

/** The option of bridge and attach. */
export const SEPARATOR_OPTION = {
  type: 'string',
  label: 'SEP',
  choices: SEPARATORS,
  complete: SEPARATORS,
  about: 'between server and tool in names: __ _ - or .',
} as const;
