import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { COMMAND } from './command.js';

/** script(1) of util-linux gives a pseudo terminal; that of macOS has other flags. */
export const HAS_TERMINAL = process.platform === 'linux' && existsSync('/usr/bin/script');

export interface Terminal {
  /** Everything that was written to the terminal. */
  screen(): string;
  press(keys: string): void;
  status: Promise<number | null>;
}

/** The command on a terminal of 100 columns and 30 rows. */
export function onTerminal(
  args: readonly string[],
  { cwd, env, cols = 100 }: { cwd: string; env: Record<string, string>; cols?: number },
): Terminal {
  const quote = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;
  const line = [process.execPath, COMMAND, ...args].map(quote).join(' ');
  const child = spawn(
    '/usr/bin/script',
    ['-qefc', `stty cols ${cols} rows 30 -echo; exec ${line}`, '/dev/null'],
    { cwd, env: { ...env, TERM: 'xterm', SHELL: '/bin/sh' }, stdio: ['pipe', 'pipe', 'inherit'] },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return {
    screen: () => text,
    press: (keys) => void child.stdin.write(keys),
    status: once(child, 'close').then(([code]) => code as number | null),
  };
}
