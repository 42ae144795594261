/**
 * Adds `-e NAME` to `docker run` for every declared variable, since docker passes none on unless it is named. Only the
 * name is in argv: docker reads the value from its environment, and `ps` does not show it.
 */
export function withEnvironmentNames(args: readonly string[], names: readonly string[]): string[] {
  const run = args.indexOf('run');
  if (run === -1) return [...args];
  const missing = names.filter((name) => !isNamed(args.slice(run + 1), name));
  return [...args.slice(0, run + 1), ...missing.flatMap((name) => ['-e', name]), ...args.slice(run + 1)];
}

function isNamed(args: readonly string[], name: string): boolean {
  const isPair = (text: string | undefined) => text === name || text?.startsWith(`${name}=`) === true;
  return args.some((arg, index) => {
    if (arg === '-e' || arg === '--env') return isPair(args[index + 1]);
    if (arg.startsWith('--env=')) return isPair(arg.slice('--env='.length));
    return arg.startsWith('-e') && isPair(arg.slice(2));
  });
}
