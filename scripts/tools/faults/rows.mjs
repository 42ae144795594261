// The faults that toolherd must survive: the requirements that say what must hold then.
import { REQUIREMENTS } from '../../shared/requirements.mjs';

export const ROWS = REQUIREMENTS.flatMap(({ id, text, must }) =>
  must === undefined ? [] : [{ id, fault: text, must }],
);
