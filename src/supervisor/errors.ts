import type { ServerSpec } from '../config/spec.js';
import { MCPError, MCPTimeoutError, ServerUnavailableError } from '../link/errors.js';
import { didYouMean } from '../near-miss.js';

/** No server of this name is configured. */
export class ServerNotFoundError extends MCPError {
  override readonly type: string = 'ServerNotFoundError';
}

/** The server has no such tool. */
export class MCPToolNotFoundError extends MCPError {
  override readonly type: string = 'MCPToolNotFoundError';
}

/** The server has no such prompt. */
export class MCPPromptNotFoundError extends MCPError {
  override readonly type: string = 'MCPPromptNotFoundError';
}

/** The server says that it has no such resource. */
export class MCPResourceNotFoundError extends MCPError {
  override readonly type: string = 'MCPResourceNotFoundError';
}

/** The file that a server comes from was revoked. */
class RevokedError extends MCPError {
  override readonly type: string = 'TrustRequiredError';
}

/** The tool ran and said that it failed. */
export class MCPToolError extends MCPError {
  override readonly type: string = 'MCPToolError';
}

export function unknownServer(name: string, names: readonly string[]): MCPError {
  const known = names.length === 0 ? 'no server is configured' : `there are: ${names.join(', ')}`;
  const fix = didYouMean(name, names) || 'see "toolherd status", or add it to the config';
  return new ServerNotFoundError(`no server is called '${name}'`, { why: known, fix });
}

export function unknownTool(server: string, tool: string, names: readonly string[]): MCPError {
  const why = names.length === 0 ? 'it has no tools' : `it has: ${names.slice(0, 20).join(', ')}`;
  const fix = didYouMean(tool, names) || `see "toolherd tools ${server}"`;
  return new MCPToolNotFoundError(`${server} has no tool '${tool}'`, { why, fix });
}

export function unknownPrompt(server: string, prompt: string, names: readonly string[]): MCPError {
  const why = names.length === 0 ? 'it has no prompts' : `it has: ${names.slice(0, 20).join(', ')}`;
  const fix = didYouMean(prompt, names) || `see "toolherd prompts ${server}"`;
  return new MCPPromptNotFoundError(`${server} has no prompt '${prompt}'`, { why, fix });
}

/** `said`: the server's own words. */
export function unknownResource(
  server: string,
  uri: string,
  uris: readonly string[],
  said: string,
): MCPError {
  const fix = didYouMean(uri, uris) || `see "toolherd resources ${server}"`;
  const details = { sent: true, why: `the server said: ${said}`, fix };
  return new MCPResourceNotFoundError(`${server} has no resource '${uri}'`, details);
}

/** The time of a request was over before it was known what the server has. */
export function listsTooLate(server: string, timeoutMs: number): MCPError {
  return new MCPTimeoutError(
    `${server}: did not say what it offers within the ${timeoutMs / 1000} s of this call`,
    {
      retryable: true,
      why: 'the call was not sent',
      fix: `see "toolherd why ${server}"`,
    },
  );
}

export function disabled({ name, origin, isRevoked }: ServerSpec): MCPError {
  if (isRevoked) return notAllowed(name, origin.file);
  const why = `its entry says 'enabled: false'`;
  const fix = `set 'enabled: true' in ${origin.file}`;
  return new ServerUnavailableError(`${name}: is disabled`, { why, fix });
}

function notAllowed(name: string, file: string): MCPError {
  return new RevokedError(`${name}: is not allowed to run any more`, {
    why: `${file} was revoked`,
    fix: `toolherd allow ${file}`,
  });
}

/** The server was stopped, and calls do not start it. */
export function stopped(name: string): MCPError {
  return new ServerUnavailableError(`${name}: was stopped`, {
    why: 'somebody stopped it, and calls do not start what was stopped',
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

const NOT_FOUND = {
  tools: { error: MCPToolNotFoundError, what: 'a tool' },
  prompts: { error: MCPPromptNotFoundError, what: 'a prompt' },
  resources: { error: MCPResourceNotFoundError, what: 'a resource' },
};

/** No server of the herd has it. */
export function nobodyHas(list: keyof typeof NOT_FOUND, name: string, names: readonly string[]): MCPError {
  const { error: NotFound, what } = NOT_FOUND[list];
  const fix = didYouMean(name, names) || `see "toolherd ${list}"`;
  return new NotFound(`no server has ${what} '${name}'`, { why: 'nothing was sent', fix });
}
