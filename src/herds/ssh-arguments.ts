import type { HerdSpec } from '../config/fields/spec.js';

/** A dead line is noticed after at most three of these. */
export const ALIVE_SECONDS = 2;
const ALIVE_COUNT = 2;
const CONNECT_SECONDS = 15;

/**
 * The user's ssh, with the user's config, keys, agent and jump hosts. It asks no question, since no person watches a daemon.
 * It shares no connection: a master of the user would keep the forwarded socket open when this process has ended. The other
 * machine gets neither the agent nor the display of the user.
 */
const OPTIONS = [
  '-T',
  '-a',
  '-x',
  ...option('BatchMode', 'yes'),
  ...option('ControlMaster', 'no'),
  ...option('ControlPath', 'none'),
  ...option('ConnectTimeout', String(CONNECT_SECONDS)),
  ...option('ServerAliveInterval', String(ALIVE_SECONDS)),
  ...option('ServerAliveCountMax', String(ALIVE_COUNT)),
];

/**
 * Prints the path of the socket, after the daemon was started where none runs. `starts`: false where an order ended that
 * daemon; it stays ended.
 */
export function askArguments({ address, command }: HerdSpec, starts: boolean): string[] {
  const up = `${command} up >/dev/null && `;
  return [...OPTIONS, '--', address, `${starts ? up : ''}${command} socket`];
}

/** Forwards a socket of this machine, which only this user can open, to the one of the other machine. */
export function forwardArguments({ address }: HerdSpec, local: string, remote: string): string[] {
  return [
    ...OPTIONS,
    '-N',
    ...option('ExitOnForwardFailure', 'yes'),
    ...option('StreamLocalBindUnlink', 'yes'),
    ...option('StreamLocalBindMask', '0177'),
    '-L',
    `${escaped(local)}:${escaped(remote)}`,
    '--',
    address,
  ];
}

function option(name: string, value: string): string[] {
  return ['-o', `${name}=${value}`];
}

/** ssh splits at colons, and expands tokens such as %h. */
function escaped(path: string): string {
  return path.replaceAll('%', '%%').replaceAll(/[\\:]/g, '\\$&');
}
