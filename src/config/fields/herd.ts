import * as z from 'zod/mini';
import type { Default } from './defaults.js';
import { map, matching, names, optional, text } from './shapes.js';

interface HerdField {
  shape: z.ZodMiniType;
  about: string;
  default: Default;
}

/** It begins the names of the herd's servers, and those of their tools. */
export const HERD_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}$/;
/** What begins with a dash would be an option of ssh. */
const DESTINATION = /^[^-\s][^\s]*$/;

/** Every key of an item of `herds`, with its description and default for editors and docs. */
export const HERD_FIELDS = {
  name: {
    shape: matching(HERD_NAME, 'at most 32 letters, digits, _, - and dots, beginning with a letter or digit'),
    about: 'Name of the herd. Its server browser is called NAME/browser here.',
    default: 'required',
  },
  ssh: {
    shape: matching(DESTINATION, 'a destination of ssh such as user@host, without spaces'),
    about:
      'The machine of the herd, as ssh takes it: user@host, or a Host of ~/.ssh/config. ssh must reach it without a question.',
    default: 'none',
  },
  socket: {
    shape: matching(/^\//, 'the full path of a socket'),
    about: 'The socket of a herd on this machine, of a container or another user, in place of ssh.',
    default: 'none',
  },
  servers: {
    shape: map({ allow: optional(names()), deny: optional(names()) }),
    about: 'Servers of that herd that you want, as globs of their names there.',
    default: { allow: ['*'], deny: [] },
  },
  command: {
    shape: text(),
    about: 'What runs toolherd there, with ssh. A shell without your login files may not find toolherd.',
    default: 'toolherd',
  },
} as const satisfies Record<string, HerdField>;

/** One herd as a strict map; null counts as absent, except for the name. */
export function herdShape(): z.ZodMiniType {
  const shapes = Object.entries(HERD_FIELDS).map(([key, { shape }]) => [
    key,
    key === 'name' ? shape : optional(z.nullable(shape)),
  ]);
  return map(Object.fromEntries(shapes));
}
