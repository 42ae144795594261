import * as z from 'zod/mini';
import type { Default } from './defaults.js';
import { anyMap, map, names, optional, text } from './shapes.js';
import { surfaceShapes } from './surface.js';

interface ProfileField {
  shape: z.ZodMiniType;
  about: string;
  default: Default;
}

/** Every agent accepts these characters in a name of a tool. */
const PUBLIC_NAME = /^[A-Za-z0-9_-]{1,64}$/;
/** It is also a part of a URL, and an argument of the command. */
export const PROFILE_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

const publicName = () => {
  const error = '1 to 64 letters, digits, _ and -';
  return z.string({ error }).check(z.regex(PUBLIC_NAME, { error }));
};

const byTool = (value: z.ZodMiniType, error: string) => z.record(z.string(), value, { error });

/** Every key of a profile, with its description and default for editors and docs. */
export const PROFILE_FIELDS = {
  description: {
    shape: text(),
    about: 'What the profile is for, shown by toolherd profiles.',
    default: 'none',
  },
  servers: {
    shape: names(),
    about: 'Servers of the profile, as globs. Their prompts and resources belong to it too.',
    default: { value: '', shown: 'the servers that `tools` names' },
  },
  tools: {
    shape: names(),
    about: 'Tools of these servers, as globs of server.tool.',
    default: ['*'],
  },
  rename: {
    shape: byTool(publicName(), 'a map of server.tool to a name'),
    about: 'Other public names of tools: {server.tool: name}.',
    default: 'none',
  },
  describe: {
    shape: byTool(text(), 'a map of server.tool to a text'),
    about: 'Other descriptions of tools for the model: {server.tool: text}.',
    default: 'none',
  },
  defaults: {
    shape: byTool(anyMap('a map of arguments'), 'a map of server.tool to a map of arguments'),
    about:
      'Arguments that toolherd fills in, and that agents neither see nor change: {server.tool: {argument: value}}.',
    default: 'none',
  },
  surface: {
    shape: map(surfaceShapes()),
    about:
      'What agents with this profile see, instead of daemon.surface: {mode: auto, all or search, above_tokens, always, result_limit}. What it leaves out is as there.',
    default: { value: {}, shown: '`daemon.surface`' },
  },
} as const satisfies Record<string, ProfileField>;

/** One profile as a strict map of optional values; null counts as absent. */
export function profileShape(): z.ZodMiniType {
  const shapes = Object.entries(PROFILE_FIELDS).map(([key, { shape }]) => [key, optional(z.nullable(shape))]);
  return map(Object.fromEntries(shapes));
}
