/** A file that tells the system to keep the daemon running, and the words that put it to use. */
export interface Service {
  manager: 'systemd' | 'launchd';
  /** The name under which the system knows it. */
  unit: string;
  file: string;
  text: string;
  install: readonly Argv[];
  /** In the place of `install`, where an older one runs. */
  update: readonly Argv[];
  /** What was never started cannot be stopped: these may fail. */
  uninstall: readonly Argv[];
  /** After the file is gone. */
  forget: readonly Argv[];
  /** Answers with 0 when it runs. */
  isActive: Argv;
  /** What a person may want to know once it is installed. */
  hints: readonly string[];
}

/** A program and its arguments. */
export type Argv = readonly [string, ...string[]];

/** What a service is made of. */
export interface ServiceContext {
  home: string;
  uid: number;
  /** Where the user's units stand, on Linux. */
  xdgConfigFolder: string;
  logFolder: string;
  /** Node and the command. */
  command: readonly string[];
  /** Goes into the file: the daemon finds the same programs and folders as this shell. Never a secret. */
  environment: Readonly<Record<string, string>>;
  /** Variables of the user's, read when it starts; it need not be there. */
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

/** What of an environment a service needs to find what the shell finds. */
export function keptEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    KEPT.flatMap((name): [string, string][] => {
      const value = environment[name];
      return value === undefined || value === '' ? [] : [[name, value]];
    }),
  );
}
