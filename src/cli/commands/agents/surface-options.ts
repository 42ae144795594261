import { SEPARATORS } from '../../../shared/mcp/separators.js';
import { SURFACE_MODES } from '../../../shared/mcp/surface.js';

/** The option of bridge and attach. */
export const SEPARATOR_OPTION = {
  type: 'string',
  label: 'SEP',
  choices: SEPARATORS,
  complete: SEPARATORS,
  about: 'between server and tool in names: __ _ - or .',
} as const;

/** The option of bridge and attach. */
export const SURFACE_OPTION = {
  type: 'string',
  label: 'MODE',
  choices: SURFACE_MODES,
  complete: SURFACE_MODES,
  about: 'which tools are listed: auto, all or search',
} as const;
