import type { ServerSpec } from '../config/spec.js';
import { MCPError, ServerUnavailableError } from '../link/errors.js';
import { didYouMean } from '../near-miss.js';

/** No server of this name is configured. */
export class ServerNotFoundError extends MCPError {
  override readonly type: string = 'ServerNotFoundError';
}

/** The server has no such tool. */
export class MCPToolNotFoundError extends MCPError {
  override readonly type: string = 'MCPToolNotFoundError';
}

/** The tool ran and said that it failed. */
export class MCPToolError extends MCPError {
  override readonly type: string = 'MCPToolError';
}

export function unknownServer(name: string, names: readonly string[]): MCPError {
  const known = names.length === 0 ? 'no server is configured' : `there are: ${names.join(', ')}`;
  const fix = didYouMean(name, names) || known;
  return new ServerNotFoundError(`no server is called '${name}'`, { why: known, fix });
}

export function unknownTool(server: string, tool: string, names: readonly string[]): MCPError {
  const why = names.length === 0 ? 'it has no tools' : `it has: ${names.slice(0, 20).join(', ')}`;
  const fix = didYouMean(tool, names) || `see "toolherd tools ${server}"`;
  return new MCPToolNotFoundError(`${server} has no tool '${tool}'`, { why, fix });
}

export function disabled({ name, origin }: ServerSpec): MCPError {
  return new ServerUnavailableError(`${name}: is disabled`, { fix: `set 'enabled: true' in ${origin.file}` });
}

/** The server was stopped, and calls do not start it. */
export function stopped(name: string): MCPError {
  return new ServerUnavailableError(`${name}: was stopped`, {
    why: 'by order',
    fix: `toolherd start ${name}`,
  });
}

/** The server of this config gives way to another, or to none. */
export function replaced(name: string): MCPError {
  const message = `${name}: was stopped, because its config has changed`;
  return new ServerUnavailableError(message, {
    retryable: true,
    why: 'the call was not sent',
    fix: 'call again',
  });
}
