import type { ParseArgsConfig } from 'node:util';
import type { Fleet } from '../../fleet/fleet.js';
import type { Paths } from '../../shared/paths.js';
import type { ViewMode } from '../daemon/connect.js';
import type { Output } from '../ui/output.js';

/** The flags that every verb understands. */
export const GLOBAL_OPTIONS = {
  json: { type: 'boolean' },
  config: { type: 'string' },
  agent: { type: 'string' },
  socket: { type: 'string' },
  timeout: { type: 'string' },
  quiet: { type: 'boolean', short: 'q' },
  verbose: { type: 'boolean', short: 'v' },
  'no-color': { type: 'boolean' },
  'no-autostart': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const satisfies ParseArgsConfig['options'];

/** A flag that may be given several times is a list. */
export type Flags = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

export interface FleetOptions {
  autostart?: boolean;
  viewMode?: ViewMode;
  /** For how long the daemon may take to say hello, in place of --timeout. */
  timeout?: string;
  onLost?: () => void;
}

/** Everything a verb may use; it reads no process globals of its own. */
export interface CommandContext {
  args: readonly string[];
  /** The words behind `--`, for a verb that takes a command. */
  command?: readonly string[] | undefined;
  flags: Flags;
  output: Output;
  paths: Paths;
  environment: Readonly<Record<string, string | undefined>>;
  userHome: string;
  cwd: string;
  /** The herd. Starts the daemon where that is wanted and needed; closed when the verb is done. */
  fleet(options?: FleetOptions): Promise<Fleet>;
  /** Throws a UsageError that names the near miss. */
  loadVerb(name: string): Promise<Command>;
  /** True when a person sits at the terminal and can be asked. Looking costs time, so it is asked when needed. */
  isInteractive(): boolean;
  /** Asks a yes-or-no question on the terminal. */
  confirm(question: string): Promise<boolean>;
}

/** One verb of the command: its help teaches by example. */
export interface Command {
  usage: string;
  about: string;
  help: string;
  options: NonNullable<ParseArgsConfig['options']>;
  /** How many arguments it takes at most. */
  most: number;
  /** What stands behind `--` is a command, not more arguments. */
  takesCommand?: boolean;
  /** Answers with the exit status. */
  run(call: CommandContext): Promise<number>;
}

/** The command line makes no sense. */
export class UsageError extends Error {
  readonly type = 'UsageError';
  readonly fix: string;
  constructor(message: string, fix: string) {
    super(message);
    this.fix = fix;
  }
}
