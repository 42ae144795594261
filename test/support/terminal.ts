import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { COMMAND } from './command.js';

export interface Terminal {
  /** Everything that was written to the terminal. */
  screen(): string;
  press(keys: string): void;
  status: Promise<number | null>;
}

/** script(1) gives a pseudo terminal; that of macOS has other flags than that of util-linux. */
const inScript = (line: string) =>
  process.platform === 'linux' ? ['-qefc', line, '/dev/null'] : ['-q', '/dev/null', '/bin/sh', '-c', line];

/** The command on a terminal of 100 columns and 30 rows. */
export function onTerminal(
  args: readonly string[],
  { cwd, env, cols = 100 }: { cwd: string; env: Record<string, string>; cols?: number },
): Terminal {
  const quote = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;
  const line = [process.execPath, COMMAND, ...args].map(quote).join(' ');
  const child = spawn('/usr/bin/script', inScript(`stty cols ${cols} rows 30 -echo; exec ${line}`), {
    cwd,
    env: { ...env, TERM: 'xterm', SHELL: '/bin/sh' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
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
