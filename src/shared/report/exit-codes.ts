/** The exit statuses of the command. The numbers follow sysexits.h and the conventions of shells. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  notRunning: 3,
  notFound: 4,
  cannotReach: 69,
  notAllowed: 77,
  badConfig: 78,
  timeout: 124,
  interrupted: 130,
} as const;

/** The status for an error of this type; `failed` for any other. */
const STATUS: Readonly<Record<string, number>> = {
  UsageError: EXIT.usage,
  ConfigError: EXIT.badConfig,
  MCPConfigError: EXIT.badConfig,
  TrustRequiredError: EXIT.notAllowed,
  AuthRequiredError: EXIT.notAllowed,
  DaemonNotRunningError: EXIT.notRunning,
  ServerNotFoundError: EXIT.notFound,
  ProfileNotFoundError: EXIT.notFound,
  MCPToolNotFoundError: EXIT.notFound,
  MCPPromptNotFoundError: EXIT.notFound,
  MCPResourceNotFoundError: EXIT.notFound,
  MCPTimeoutError: EXIT.timeout,
  MCPConnectionError: EXIT.cannotReach,
  DaemonUnreachableError: EXIT.cannotReach,
  ConnectionLostError: EXIT.cannotReach,
  RegistryUnreachableError: EXIT.cannotReach,
  RegistryTimeoutError: EXIT.timeout,
  RegistryNotFoundError: EXIT.notFound,
};

export function exitStatusOf(type: string): number {
  return STATUS[type] ?? EXIT.failed;
}
