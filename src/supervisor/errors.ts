import type { ServerSpec, Unusable } from '../config/fields/spec.js';
import type { MissingList } from '../fleet/fleet.js';
import {
  MCPError,
  MCPPromptNotFoundError,
  MCPProtocolError,
  MCPResourceNotFoundError,
  MCPTimeoutError,
  MCPToolNotFoundError,
  ProfileNotFoundError,
  type RpcErrorObject,
  ServerNotFoundError,
  ServerUnavailableError,
  TrustRequiredError,
} from '../shared/call-errors.js';
import { isObject } from '../shared/json.js';
import { CODE } from '../shared/mcp/rpc-codes.js';
import { didYouMean } from '../shared/text/near-miss.js';
import { seconds } from '../shared/text/seconds.js';
import { shellWord } from '../shared/text/shell-word.js';

/** The entry of a server cannot be resolved. `type` is that of a file that is refused for the same problems. */
export class MisconfiguredError extends MCPError {
  override readonly type: string;
  readonly problems: Misconfigured['problems'];

  constructor(name: string, { type, problems }: Misconfigured) {
    const found = problems.map(
      ({ message, file, line, column }) => `${message}, at ${file}:${line}:${column}`,
    );
    super(`${name}: ${found.join('; ')}`, {
      why: 'its entry in the config cannot be resolved; other servers are not affected',
      fix: [...new Set(problems.map(({ fix }) => fix))].join('; '),
    });
    this.type = type;
    this.problems = problems;
  }
}

type Misconfigured = Extract<Unusable, { detail: 'misconfigured' }>;

/** A request that no server gets, because its params are wrong. */
export function invalidParams(problem: string): MCPError {
  const message = `Invalid params: ${problem}`;
  return new MCPProtocolError(message, { rpc: { code: CODE.invalidParams, message } });
}

/** `agents`: the files of other agents that have one of this name. */
export function unknownServer(
  name: string,
  names: readonly string[],
  agents: readonly string[] = [],
): MCPError {
  const [agent] = agents;
  if (agent !== undefined) {
    const why = `it is a server of ${agents.join(', ')}, which this connection does not use`;
    return new ServerNotFoundError(`no server is called '${name}' here`, {
      why,
      fix: `add: --agent ${shellWord(agent)}`,
    });
  }
  const known = names.length === 0 ? 'no server is configured' : `there are: ${names.join(', ')}`;
  const fix = didYouMean(name, names) || 'see "toolherd status", or add it to the config';
  return new ServerNotFoundError(`no server is called '${name}'`, { why: known, fix });
}

/** `removed`: it was there when the connection chose it. */
export function unknownProfile(name: string, names: readonly string[], what?: 'removed'): MCPError {
  const known = names.length === 0 ? 'the config has no profiles' : `there are: ${names.join(', ')}`;
  const near = didYouMean(name, names);
  if (what === undefined) {
    const fix = near || 'add it to \'profiles\' of the config; see "toolherd profiles"';
    return new ProfileNotFoundError(`no profile is called '${name}'`, { why: known, fix });
  }
  const fix = `add it to 'profiles' of the config again, or connect with another one`;
  const message = `the profile '${name}' of this connection is not in the config any more`;
  return new ProfileNotFoundError(message, { why: `${known}; nothing was sent`, fix });
}

/** A connection with a profile asks for what concerns the whole herd. */
export function beyondProfile(name: string, what: string): MCPError {
  return new ServerUnavailableError(`this connection may not ${what}: it has the profile '${name}'`, {
    why: 'that concerns servers outside of the profile',
    fix: 'connect without a profile',
  });
}

/** Only other views have servers of this name, and one has to be chosen. */
export function severalServers(name: string, agents: readonly string[]): MCPError {
  return new ServerNotFoundError(`several agents have a server called '${name}'`, {
    why: `these files have one: ${agents.join(', ')}`,
    fix: 'choose one with --agent FILE',
  });
}

export function unknownTool(server: string, tool: string, names: readonly string[]): MCPError {
  const why = names.length === 0 ? 'it has no tools' : `it has: ${someOf(names)}`;
  const fix = didYouMean(tool, names) || `see "toolherd tools ${shellWord(server)}"`;
  return new MCPToolNotFoundError(`${server} has no tool '${tool}'`, { why, fix });
}

/** A server may have thousands of names, of any length. */
function someOf(names: readonly string[]): string {
  return names
    .slice(0, 20)
    .map((name) => (name.length > 128 ? `${name.slice(0, 128)}…` : name))
    .join(', ');
}

export function unknownPrompt(server: string, prompt: string, names: readonly string[]): MCPError {
  const why = names.length === 0 ? 'it has no prompts' : `it has: ${someOf(names)}`;
  const fix = didYouMean(prompt, names) || `see "toolherd prompts ${shellWord(server)}"`;
  return new MCPPromptNotFoundError(`${server} has no prompt '${prompt}'`, { why, fix });
}

/** `said`: the server's own words. */
export function unknownResource(
  server: string,
  uri: string,
  uris: readonly string[],
  said: string,
): MCPError {
  const fix = didYouMean(uri, uris) || `see "toolherd resources ${shellWord(server)}"`;
  const details = { sent: true, why: `the server said: ${said}`, fix };
  return new MCPResourceNotFoundError(`${server} has no resource '${uri}'`, details);
}

/** The time of a request was over before it was known what the server has. */
export function listsTooLate(server: string, timeoutMs: number): MCPError {
  return new MCPTimeoutError(
    `${server}: did not say what it offers within the ${seconds(timeoutMs)} of this call`,
    {
      retryable: true,
      why: 'the call was not sent',
      fix: `see "toolherd why ${shellWord(server)}"`,
    },
  );
}

/** Why nothing can be asked of a server that is not `enabled`. */
export function disabled({ name, origin, unusable }: ServerSpec): MCPError {
  if (unusable?.detail === 'misconfigured') return new MisconfiguredError(name, unusable);
  if (unusable?.detail === 'not_allowed')
    return new TrustRequiredError(`${name}: is not allowed to run any more`, unusable);
  const why = `its entry says 'enabled: false'`;
  const where = { global: ' -g', agent: ` --agent ${shellWord(origin.file)}`, registered: undefined }[
    origin.scope
  ];
  const how = where === undefined ? '' : `: toolherd enable ${shellWord(name)}${where}`;
  const fix = `set 'enabled: true' in ${origin.file}${how}`;
  return new ServerUnavailableError(`${name}: is disabled`, { why, fix });
}

/** Throws what is wrong with the entry of a server that is misconfigured. */
export function checkConfigured({ name, unusable }: ServerSpec): void {
  if (unusable?.detail === 'misconfigured') throw new MisconfiguredError(name, unusable);
}

/** A call to another herd, which is no server. */
export function herdItself(name: string): MCPError {
  return new MCPError(`${name} is a herd, and no server`, {
    why: 'calls go to its servers',
    fix: `call ${shellWord(`${name}/SERVER`)}; "toolherd status" lists them`,
  });
}

/** The server was stopped, and calls do not start it. */
export function stopped(name: string): MCPError {
  return new ServerUnavailableError(`${name}: was stopped`, {
    why: 'it was stopped by an order, and a call does not start a stopped server',
    fix: `toolherd start ${shellWord(name)}`,
  });
}

/** The server of this config gives way to another, or to none. */
export function replaced(name: string, sent = false): MCPError {
  const message = `${name}: was stopped, because its config has changed`;
  const why = sent
    ? `it had ${seconds(DRAIN_MS)} to answer; the call was with the server and may have run`
    : 'the call was not sent';
  const fix = sent ? 'check what the call did, then call again if needed' : 'call again';
  return new ServerUnavailableError(message, { sent, retryable: true, why, fix });
}

/** A server that was changed in the config, or removed from it, has this long to answer its calls in flight. */
export const DRAIN_MS = 10_000;

/** The time of a request was over before it was known which server has what it is for. */
export function searchTooLate(
  list: keyof typeof NOT_FOUND,
  name: string,
  timeoutMs: number,
  missing: readonly MissingList[],
): MCPError {
  const { what } = NOT_FOUND[list];
  const message = `no server said within the ${seconds(timeoutMs)} of this call that it has ${what} '${name}'`;
  return new MCPTimeoutError(message, {
    retryable: true,
    why: withMissing(missing),
    fix: 'see "toolherd status"',
  });
}

const NOT_FOUND = {
  tools: { error: MCPToolNotFoundError, what: 'a tool' },
  prompts: { error: MCPPromptNotFoundError, what: 'a prompt' },
  resources: { error: MCPResourceNotFoundError, what: 'a resource' },
};

/**
 * No server of the herd has it, as far as is known: those that are `missing` may have it. `refusal`: what the one server
 * answered that was asked on the chance that it has more resources than it lists. A client of MCP gets that answer as it
 * came, and `why` and `fix` in its data. The request was sent then, so that it is not `retryable`.
 */
export function noServerHas(
  list: keyof typeof NOT_FOUND,
  name: string,
  names: readonly string[],
  missing: readonly MissingList[],
  refusal?: { server: string; rpc: RpcErrorObject },
): MCPError {
  const { error: NotFound, what } = NOT_FOUND[list];
  const message = `no server has ${what} '${name}'`;
  if (refusal !== undefined) {
    const { server, rpc } = refusal;
    const why = withMissing(missing, `${server} said: ${rpc.message}`);
    const fix = 'try again when these servers run; see "toolherd status"';
    const data = { ...(isObject(rpc.data) ? rpc.data : { data: rpc.data }), why, fix };
    return new NotFound(message, { why, fix, sent: true, rpc: { ...rpc, data } });
  }
  const fix = didYouMean(name, names) || `see "toolherd ${list}"`;
  return new NotFound(message, { why: withMissing(missing), fix, retryable: missing.length > 0 });
}

/** Each server once: its resources and their templates are missing for one reason, as a rule. */
function withMissing(missing: readonly MissingList[], done = 'nothing was sent'): string {
  const reasons = new Map(missing.map(({ server, reason }) => [server, reason]));
  if (reasons.size === 0) return done;
  const named = [...reasons].map(([server, reason]) => `${server} (${reason})`).join(', ');
  return `${done}; these lists are missing: ${named}`;
}
