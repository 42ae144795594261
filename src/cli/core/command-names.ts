/**
 * Every command, in the groups and the order of `toolherd --help`, with the line that stands there. A command itself is
 * declared in a file of commands/, which is loaded when the command is called: so the overview costs one file, not 48.
 */
export const GROUPS = {
  'Start here': {
    import: 'copy the servers of other programs into the config',
    add: 'add a server to the config',
    attach: 'point a client at the herd',
    up: 'start the daemon',
    status: 'show the herd',
    ui: 'show the herd in a browser',
    call: 'call a tool',
  },
  Servers: {
    start: 'start servers',
    stop: 'stop servers',
    restart: 'restart servers',
    reset: 'let quarantined servers try again',
    why: 'tell what happened to a server, and what to do',
    inspect: 'show everything about a server',
    logs: 'show what servers wrote and logged',
    events: 'show what happens, as it happens',
    audit: 'show who called what, and how it ended',
    outdated: 'list packages that have a newer version',
    update: 'install newer packages, and restart their servers',
    register: 'add a server to the daemon alone, not to a file',
    unregister: 'remove a registered server',
  },
  'Tools, prompts and resources': {
    tools: 'list tools',
    find: 'find tools by what they do',
    'call-many': 'call many tools at once',
    prompts: 'list prompts',
    prompt: 'fill in a prompt',
    resources: 'list resources',
    resource: 'read a resource',
  },
  Config: {
    list: 'list the servers of the config',
    remove: 'remove a server from the config',
    enable: 'enable servers of the config',
    disable: 'disable servers of the config, and keep their entries',
    validate: 'check config files without running anything',
    schema: 'print the JSON Schema of the config files',
    reload: 'read the config again',
  },
  Registry: {
    search: 'find servers in the registry',
    show: 'show a server of the registry',
  },
  Agents: {
    bridge: 'offer the herd to an agent as one MCP server',
    detach: 'undo attach',
    agents: 'show who is connected, and what they call now',
    profiles: 'show the profiles of the config, and what each costs',
  },
  Trust: {
    allow: "let a project's agent.yaml run what it says",
    revoke: 'undo allow',
    pins: 'show tools that have changed, and accept them',
    auth: 'authorise toolherd at a remote server',
  },
  Daemon: {
    down: 'stop every server and the daemon',
    cluster: 'show the nodes of the cluster, and drain this one',
    doctor: 'look for problems, and say how to fix them',
    socket: 'print the path of the socket',
    service: 'let the system keep the daemon running',
  },
  Help: {
    completion: 'complete commands, servers and tools in your shell',
    version: 'print the version',
    help: 'explain a command',
  },
} as const;

type NamesIn<G> = G extends unknown ? keyof G : never;
export type CommandName = NamesIn<(typeof GROUPS)[keyof typeof GROUPS]>;

/** Every command, with its line. */
export const COMMANDS: Readonly<Record<string, string>> = Object.assign({}, ...Object.values(GROUPS));

/** The files of commands/ that declare several commands. Every other command has a file of its name. */
export const SHARED_FILES: Readonly<Record<string, string>> = {
  ...{ start: 'lifecycle', stop: 'lifecycle', restart: 'lifecycle', reset: 'lifecycle' },
  ...{ enable: 'enabling', disable: 'enabling' },
  ...{ tools: 'lists', prompts: 'lists', resources: 'lists' },
};
