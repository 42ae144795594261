/**
 * Variables that a project's file must not set, because they change which code runs for a command that `allow` has
 * shown. docs/decisions/0054-a-project-sets-no-variable-that-changes-what-runs.md has the reasons, also for names that
 * are absent here.
 */
const REFUSED: readonly RegExp[] = [
  // which programs and libraries a process loads
  /^(PATH|LD_.*|DYLD_.*|GCONV_PATH|OPENSSL_(CONF|ENGINES|MODULES))$/,
  // code that an interpreter loads before the program
  /^(NODE_(OPTIONS|PATH|COMPILE_CACHE)|PYTHON.*|PERL(5OPT|5LIB|5DB|LIB)|RUBY(OPT|LIB)|BUN_OPTIONS)$/,
  /^((JDK_JAVA|_JAVA|JAVA_TOOL)_OPTIONS|CLASSPATH|DOTNET_STARTUP_HOOKS|BASH_ENV|BASH_FUNC_.*|SHELLOPTS|BASHOPTS|PS4)$/,
  // where runners find their settings, packages and engine
  /^(HOME|PREFIX|DESTDIR|XDG_.*|UV_.*|PIP_.*|COREPACK_.*|DOCKER_(HOST|CONTEXT|CONFIG|CERT_PATH|TLS|TLS_VERIFY))$/,
  // npm reads these in any case
  /^npm_config_/i,
  // programs that git runs, when a runner fetches a package from a repository
  /^(GIT_(SSH|SSH_COMMAND|ASKPASS|PROXY_COMMAND|EXEC_PATH|TEMPLATE_DIR|CONFIG.*)|SSH_ASKPASS)$/,
];

/** Why a project's file must not set this variable; undefined when it may. */
export function refusedName(name: string, isUserOwned: boolean): string | undefined {
  const isRefused = !isUserOwned && REFUSED.some((pattern) => pattern.test(name));
  return isRefused ? `'${name}' may not be set from a project's file` : undefined;
}
