const HOST = /^--(pid|ipc|uts|userns|net|network)=host$/;
const POWER = /^--(privileged(=true)?$|(cap-add|device|security-opt)=)/;
const MOUNT = /^(-v|--volume)=(\/|~|\$HOME|\.)|^--mount=(?=.*\bbind\b)(?=.*\b(source|src)=[/~])/;

/** The words of a `docker run` with which a container gets at the machine itself. A place that the user names is none. */
export function dockerHostAccess(args: readonly string[]): string[] {
  return args.flatMap((arg, index) => {
    const isPair = !arg.includes('=') && args[index + 1] !== undefined;
    const pair = isPair ? `${arg}=${args[index + 1]}` : arg;
    if (/^-v[/~]/.test(arg) || POWER.test(arg)) return [arg];
    if (![HOST, POWER, MOUNT].some((pattern) => pattern.test(pair))) return [];
    return [isPair ? `${arg} ${args[index + 1]}` : arg];
  });
}
