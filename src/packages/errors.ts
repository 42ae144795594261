import { type ErrorDetails, ToolherdError } from '../shared/errors.js';
import type { NpxCommand } from './npx-command.js';
import type { Installed } from './package-store.js';

interface PackageErrorDetails extends ErrorDetails {
  /** The end of what npm wrote, where npm failed. */
  output?: string;
  /** Trying again cannot help. */
  isPermanent?: boolean;
}

/** A package could not be installed, or has no command to run. */
export class PackageError extends ToolherdError {
  readonly isPermanent: boolean;
  /** No plain field, so that no log prints it: it may hold secrets. */
  readonly #output: string | undefined;

  constructor(message: string, { output, isPermanent = false, ...details }: PackageErrorDetails = {}) {
    super(message, details);
    this.#output = output;
    this.isPermanent = isPermanent;
  }

  /** The end of what npm wrote, with its secrets; undefined where npm did not fail. */
  get output(): string | undefined {
    return this.#output;
  }
}

/** In brackets, where npm named the code of its error: ` (E404)`. A number is the exit code of a script. */
export function codeIn(output: string): string {
  const code = /^npm (?:error|ERR!) code ([A-Z]\w+)$/m.exec(output)?.[1];
  return code === undefined ? '' : ` (${code})`;
}

/** npx refuses to choose a command too. */
export function noCommand({ raw, bin }: NpxCommand, { version, bins }: Installed): PackageError {
  const names = Object.keys(bins);
  const has = names.length === 0 ? 'it has none' : `it has ${names.join(', ')}`;
  const what = bin === undefined ? 'the package has no command, or several' : `no program '${bin}' was found`;
  return new PackageError(`${raw} has no command to run`, {
    why: `${what}: version ${version} was installed, and ${has}`,
    fix: `name the command in 'args': [-y, -p, PACKAGE, COMMAND]`,
    isPermanent: true,
  });
}
