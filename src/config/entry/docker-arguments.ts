import { dockerRunAt, readDockerRun } from '../../shared/docker-run.js';

/**
 * Adds `-e NAME` to `docker run` for every declared variable, since docker passes none on unless it is named. Only the
 * name is in argv: docker reads the value from its environment, and `ps` does not show it.
 */
export function withEnvironmentNames(
  args: readonly string[],
  names: readonly string[],
  command = 'docker',
): string[] {
  const run = dockerRunAt(command, args);
  if (run === -1) return [...args];
  const given = readDockerRun(args.slice(run + 1)).options.flatMap(({ name, value }) =>
    name === 'env' ? [value.split('=', 1)[0]] : [],
  );
  const missing = names.filter((name) => !given.includes(name));
  return [...args.slice(0, run + 1), ...missing.flatMap((name) => ['-e', name]), ...args.slice(run + 1)];
}
