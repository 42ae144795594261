import type { ConfigProblem } from '../shared/report/config-problem.js';
import type { DaemonStatus } from './status.js';

/** What the daemon answers to `fleet/hello`. */
export interface Hello {
  daemon: Pick<DaemonStatus, 'version' | 'pid' | 'closing'> & Partial<Pick<DaemonStatus, 'config_file'>>;
  /** Of the protocol of the socket. */
  api_version: number;
  /** The file of the agent whose view the connection has; null for the global herd. */
  agent: string | null;
  /** The profile of the connection; absent: none. */
  profile?: string;
  /** What is doubtful in that file; absent when nothing is. */
  warnings?: readonly ConfigProblem[];
}
