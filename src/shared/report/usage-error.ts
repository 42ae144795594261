/** The command line makes no sense. Without a `fix` the usage line of the command is the fix. */
export class UsageError extends Error {
  readonly type = 'UsageError';
  readonly fix: string | undefined;
  constructor(message: string, fix?: string) {
    super(message);
    this.fix = fix;
  }
}
