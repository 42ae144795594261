import { type ErrorDetails, ToolherdError } from '../shared/errors.js';
import type { NpxCommand } from './npx-command.js';
import type { Installed } from './package-store.js';

/** A package could not be installed, or has no command to run. */
export class PackageError extends ToolherdError {
  /** npm failed: its last lines say why. */
  readonly isOfNpm: boolean;
  /** Trying again cannot help. */
  readonly isPermanent: boolean;

  constructor(
    message: string,
    {
      isOfNpm = false,
      isPermanent = false,
      ...details
    }: ErrorDetails & { isOfNpm?: boolean; isPermanent?: boolean } = {},
  ) {
    super(message, details);
    this.isOfNpm = isOfNpm;
    this.isPermanent = isPermanent;
  }
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
