import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type CommandContext, UsageError } from './command.js';

/** The text of a file that the user names; `-` is standard input. A pipe is as good as a file. */
export function readInput({ cwd }: Pick<CommandContext, 'cwd'>, name: string): string {
  try {
    return readFileSync(name === '-' ? 0 : resolve(cwd, name), 'utf8');
  } catch (error) {
    const label = name === '-' ? 'standard input' : name;
    throw new UsageError(
      `${label} cannot be read: ${(error as Error).message}`,
      'name a file that you can read, or - for standard input',
    );
  }
}
