/** Whether an agent lists all tools, or searches them; `auto`: by what their definitions cost. */
export const SURFACE_MODES = ['auto', 'all', 'search'] as const;

export type SurfaceMode = (typeof SURFACE_MODES)[number];

/** What the tools of the herd look like to one agent. */
export interface Surface {
  readonly mode: SurfaceMode;
  /** `auto` searches where the definitions of all tools have more tokens than this. */
  readonly aboveTokens: number;
  /** Globs of `server.tool`: tools that are also listed where the others are searched. */
  readonly always: readonly string[];
  /** Characters of text in a result where tools are searched; 0 = off. A limit of the server's entry comes first. */
  readonly resultLimit: number;
}

export const DEFAULT_SURFACE: Surface = {
  mode: 'auto',
  aboveTokens: 20_000,
  always: [],
  resultLimit: 100_000,
};

/** The tools of toolherd in search mode. A profile gives no tool one of these names. */
export const OWN_TOOL_NAMES = ['search_tools', 'describe_tools', 'call_tool', 'read_result'] as const;

export type OwnToolName = (typeof OWN_TOOL_NAMES)[number];

const OWN_NAMES: ReadonlySet<unknown> = new Set(OWN_TOOL_NAMES);

export function isOwnName(name: unknown): name is OwnToolName {
  return OWN_NAMES.has(name);
}

const CHARACTERS_PER_TOKEN = 4;

/** How many tokens a model reads for this JSON value: an estimate, which no tokenizer of a model is needed for. */
export function tokensOf(value: unknown): number {
  return Math.ceil((JSON.stringify(value)?.length ?? 0) / CHARACTERS_PER_TOKEN);
}
