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
