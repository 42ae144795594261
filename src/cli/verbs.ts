import type { Verb } from './verb.js';

/** The table of verbs. Each is loaded when it is called, so that the command starts with almost nothing. */
export const VERBS: Readonly<Record<string, { summary: string; load(): Promise<{ verb: Verb }> }>> = {
  validate: { summary: 'check config files without running anything', load: () => import('./validate.js') },
  schema: { summary: 'print the JSON Schema of the config files', load: () => import('./schema.js') },
  allow: { summary: "let a project's agent.yaml run what it says", load: () => import('./allow.js') },
  revoke: { summary: 'take that back', load: () => import('./revoke.js') },
  version: { summary: 'print the version', load: () => import('./version.js') },
  help: { summary: 'explain a command', load: () => import('./help.js') },
};
