import type { Fleet } from '../../fleet/fleet.js';
import type { Environment } from '../../shared/environment.js';
import type { Paths } from '../../shared/files/paths.js';
import type { EXIT } from '../../shared/report/exit-codes.js';
import type { ViewMode } from '../daemon/connect.js';
import type { Output } from '../ui/output.js';
import type { CommandName } from './command-names.js';

export { UsageError } from '../../shared/report/usage-error.js';

/** What the shell can complete: names that the running daemon knows, or fixed words. */
export type Completion =
  | 'command'
  /** Servers that can be called from here. */
  | 'server'
  /** Also the servers that only other agents have. */
  | 'any server'
  | 'tool'
  | 'tool argument'
  | 'prompt'
  /** The URI of a resource of the server before it. */
  | 'resource'
  | readonly string[];

export interface ArgumentDeclaration {
  /** How the usage line shows it. By default its choices, else its key in capitals. */
  label?: string;
  /** What a usage error calls it: "name a …". By default its key. */
  noun?: string;
  optional?: boolean;
  /** It takes all arguments that are left, so it is the last one. */
  many?: boolean;
  /** An option that is given in its place: `SERVER…|--all`. */
  unless?: string;
  choices?: readonly string[];
  complete?: Completion;
  /** Where to find a value: the fix when it is missing. By default the usage line. */
  hint?: string;
}

interface OptionBase {
  short?: string;
  /** One line of the help. */
  about: string;
  /** It is for programs, and no help shows it. */
  hidden?: boolean;
  /** How help shows its value. By default its choices, else by its type. */
  label?: string;
}

interface FlagDeclaration extends OptionBase {
  type: 'boolean';
}

interface TextDeclaration extends OptionBase {
  type: 'string';
  /** It may be given several times. */
  many?: boolean;
  choices?: readonly string[];
  complete?: Completion;
  default?: string;
}

/** A `duration` is written as 30s, 500ms or 2m, and read as milliseconds. */
interface NumberDeclaration extends OptionBase {
  type: 'integer' | 'duration';
  min?: number;
  max?: number;
  default?: number;
}

export type OptionDeclaration = FlagDeclaration | TextDeclaration | NumberDeclaration;

/** The options that every command has. */
export const GLOBAL_OPTIONS = {
  json: { type: 'boolean', about: 'stable output for scripts (api_version 1)' },
  config: {
    type: 'string',
    label: 'FILE',
    about: 'another global config than ~/.config/toolherd/config.yaml',
  },
  agent: {
    type: 'string',
    label: 'FILE',
    about: 'agent.yaml to use (default: the nearest, here or above)',
  },
  socket: { type: 'string', label: 'PATH', about: "another daemon's socket" },
  timeout: { type: 'duration', about: 'give up after this time' },
  quiet: { type: 'boolean', short: 'q', about: 'only data and errors' },
  verbose: { type: 'boolean', short: 'v', about: 'say more' },
  'no-color': { type: 'boolean', about: 'no colours (also: NO_COLOR)' },
  'no-autostart': { type: 'boolean', about: 'do not start the daemon' },
  help: { type: 'boolean', short: 'h', about: 'this help' },
  version: { type: 'boolean', short: 'V', about: 'print the version', hidden: true },
} as const satisfies Record<string, OptionDeclaration>;

type Arguments = Readonly<Record<string, ArgumentDeclaration>>;
type Options = Readonly<Record<string, OptionDeclaration>>;
type TextOf<D> = D extends { choices: readonly (infer Choice)[] } ? Choice : string;
type Absent<D> = D extends { default: unknown } ? never : undefined;

export type ArgumentValues<A> = {
  readonly [K in keyof A]: A[K] extends { many: true }
    ? readonly TextOf<A[K]>[]
    : A[K] extends { optional: true } | { unless: string }
      ? TextOf<A[K]> | undefined
      : TextOf<A[K]>;
};

export type OptionValues<O> = {
  readonly [K in keyof O]: O[K] extends { type: 'boolean' }
    ? boolean
    : O[K] extends { many: true }
      ? readonly TextOf<O[K]>[]
      : O[K] extends { type: 'integer' | 'duration' }
        ? number | Absent<O[K]>
        : TextOf<O[K]> | Absent<O[K]>;
};

/** The values of the options that every command has. */
export type Globals = OptionValues<typeof GLOBAL_OPTIONS>;

export interface FleetOptions {
  autostart?: boolean;
  viewMode?: ViewMode;
  /** The daemon may read another config than --config names. */
  anyConfig?: boolean;
  /** The fix where no daemon runs, for a command that does not want one. By default: start it. */
  absentFix?: string;
  /** Maximum wait for the hello of the daemon, in place of --timeout. */
  timeoutMs?: number;
  onLost?: () => void;
}

/** Everything that a command may use: it reads no globals of the process. */
export interface CommandContext {
  globals: Globals;
  output: Output;
  paths: Paths;
  environment: Environment;
  userHome: string;
  cwd: string;
  /** Connects to the daemon, and starts it where that is allowed and needed. Closed when the command is done. */
  fleet(options?: FleetOptions): Promise<Fleet>;
  /** Throws a UsageError that suggests the nearest name. */
  loadCommand(name: string): Promise<Command>;
  /** True when a person sits at the terminal and can be asked. Looking costs time, so it is asked when needed. */
  isInteractive(): boolean;
  /** Asks a yes-or-no question on the terminal. */
  confirm(question: string): Promise<boolean>;
}

/** The `absentFix` of a command that stops servers. */
export const NOTHING_RUNS = 'nothing is needed: no server runs without it';

/** The context of one command, with its own arguments and options. */
export interface CommandInput<A = Record<string, unknown>, O = Record<string, unknown>>
  extends CommandContext {
  args: A;
  options: O;
  /** The words behind `--`, for a command that takes them; undefined where there is no `--`. */
  passthrough: readonly string[] | undefined;
}

/**
 * One command. The usage line, usage errors, help, completion, docs/CLI.md and the types of `args` and `options` follow
 * from it.
 */
interface Declaration<A extends Arguments, O extends Options> {
  name: CommandName;
  /** What it does, in a sentence. */
  summary: string;
  /** What else a user needs to know, in lines of at most 80 columns. */
  details?: string;
  args?: A;
  options?: O;
  /** It takes the words behind `--`. */
  passthrough?: { label: string; hidden?: boolean };
  /** Command lines, each alone or with what it does. */
  examples: readonly (string | readonly [line: string, about: string])[];
  /** What each exit status means. */
  exits?: { readonly [Status in keyof typeof EXIT]?: string };
  /** With --help and an argument: explains what the argument names. Without it --help explains the command. */
  explain?(context: CommandInput<ArgumentValues<A>, OptionValues<O>>): Promise<number>;
  /** It applies --timeout in its own way, or goes on until it is interrupted. Any other command ends when the time is over. */
  ownTimeout?: true;
  /** Answers with the exit status. */
  run(context: CommandInput<ArgumentValues<A>, OptionValues<O>>): Promise<number>;
}

/** A command whose own types are forgotten, for the places that work with any of them. */
export interface Command extends Declaration<Arguments, Options> {
  args: Arguments;
  options: Options;
  explain?(context: CommandInput): Promise<number>;
  run(context: CommandInput): Promise<number>;
}

export function defineCommand<
  const A extends Arguments = Record<never, never>,
  const O extends Options = Record<never, never>,
>(declaration: Declaration<A, O>): Command {
  const { args = {}, options = {} } = declaration;
  return { ...declaration, args, options } as Command;
}
