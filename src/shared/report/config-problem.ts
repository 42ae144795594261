/** One problem in one config file, with its position. All problems of a file are reported at once. */
export interface ConfigProblem {
  type: 'ConfigError' | 'MCPConfigError' | 'ValidationError';
  message: string;
  /** The cause, when the message does not say it. */
  why?: string;
  fix: string;
  file: string;
  /** 1-based, as editors count. */
  line: number;
  column: number;
  /** Where in the document, e.g. `tools[2].env.API_KEY`; empty for the file as a whole. */
  path: string;
  /** The name of the variable that is not set, for problems of that kind. Never a value. */
  variable?: string;
}
