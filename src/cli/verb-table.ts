/** Every verb and a line about it. The verb itself is a file of verbs/, loaded when it is called. */
export const VERBS: Readonly<Record<string, string>> = {
  validate: 'check config files without running anything',
  schema: 'print the JSON Schema of the config files',
  allow: "let a project's agent.yaml run what it says",
  revoke: 'take that back',
  version: 'print the version',
  help: 'explain a command',
};
