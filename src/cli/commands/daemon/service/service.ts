import type { Environment } from '../../../../shared/environment.js';
import type { Argv } from '../../../core/run-program.js';

/** A file that makes the system keep the daemon running, and the commands that install it. */
export interface Service {
  manager: 'systemd' | 'launchd';
  file: string;
  text: string;
  install: readonly Argv[];
  /** In place of `install`, if another version of the file is installed. */
  update: readonly Argv[];
  /** They may fail: a service that was never started cannot be stopped. */
  uninstall: readonly Argv[];
  /** After the file is deleted. */
  forget: readonly Argv[];
  /** Its exit status is 0 when the service runs. */
  isActive: Argv;
  /** Shown after the installation. */
  hints: readonly string[];
}

/** What the service file is made from. */
export interface ServiceContext {
  home: string;
  uid: number;
  /** The folder of the user's units, on Linux. */
  xdgConfigFolder: string;
  logFolder: string;
  /** Node and the command. */
  command: readonly string[];
  /** Written into the file, so that the daemon finds the same programs and folders as this shell. Never a secret. */
  environment: Readonly<Record<string, string>>;
  /** A file with the user's variables, read at the start. It may be missing. */
  environmentFile: string;
}

const KEPT = [
  'PATH',
  'TOOLHERD_HOME',
  'TOOLHERD_SOCKET',
  'XDG_CONFIG_HOME',
  'XDG_STATE_HOME',
  'XDG_CACHE_HOME',
];

/** The variables that a service needs to find the same programs and folders as the shell. */
export function keptEnvironment(environment: Environment): Record<string, string> {
  return Object.fromEntries(
    KEPT.flatMap((name): [string, string][] => {
      const value = environment[name];
      return value === undefined || value === '' ? [] : [[name, value]];
    }),
  );
}
