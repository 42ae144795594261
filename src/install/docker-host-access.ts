import { dockerRunAt, readDockerRun } from '../shared/docker-run.js';

/** Options that give the container a part of the host, whatever their value. */
const ALWAYS =
  /^(cap-add|device|device-cgroup-rule|security-opt|volumes-from|env-file|label-file|cidfile|gpus|runtime|cgroup-parent|volume-driver|sysctl|cdi-device)$/;
/** Namespaces: `host` is the host's, `container:NAME` is that of another container. */
const NAMESPACE = /^(pid|ipc|uts|userns|net|network|cgroupns)$/;
const FOREIGN = /^(host|container:.*|ns:.*)$/;
/** A folder of the host, also by a variable that every machine has or whose default is a folder. */
const HOST_FOLDER = /^([/~.\\]|\$\{?(env:)?(HOME|USER|PWD|userHome)\b|\$\{[^}]*:-[/~.])/;

/**
 * The words of a `docker run` that give the container access to the host. A folder that the user names (`${FOLDER}`) does not
 * count, nor does a volume of docker.
 */
export function dockerHostAccess(args: readonly string[], command = 'docker'): string[] {
  const runAt = dockerRunAt(command, args);
  if (runAt === -1) return [];
  const { options } = readDockerRun(args.slice(runAt + 1));
  return [...new Set(options.filter(reachesHost).map(({ words }) => words))];
}

function reachesHost({ name, value }: { name: string; value: string }): boolean {
  if (ALWAYS.test(name)) return true;
  if (name === 'privileged' || name === 'use-api-socket') return !/^(0|f|false)$/i.test(value);
  if (NAMESPACE.test(name)) return FOREIGN.test(value) || /\bname=host\b/.test(value);
  if (name === 'volume') return HOST_FOLDER.test(value);
  return name === 'mount' && isHostMount(value);
}

/** `type=bind,src=/,dst=/x`. docker takes `bind` for the type of a mount only if it says so. */
function isHostMount(value: string): boolean {
  const pairs = new Map(value.split(',').map((pair) => pair.split(/=(.*)/s, 2) as [string, string]));
  const source = pairs.get('source') ?? pairs.get('src') ?? '';
  if (pairs.get('type') === 'bind') return HOST_FOLDER.test(source);
  // the local driver of a volume mounts any device
  return /volume-opt=/.test(value);
}
