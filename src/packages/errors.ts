import { type ErrorDetails, ToolherdError } from '../shared/errors.js';

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
