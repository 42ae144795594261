/** What scripts import: the configuration of a herd, read as the daemon reads it. */
export { type Loaded, type LoadOptions, loadConfig } from './config/load.js';
export { ConfigError, formatProblem, MCPConfigError, type Problem } from './config/problem.js';
export { Redactor } from './config/redactor.js';
export type * from './config/spec.js';
export { ToolherdError } from './errors.js';
export { VERSION } from './version.js';
