import type { Root, ServerSpec, Settings } from '../../config/fields/spec.js';
import { onAbort } from '../../shared/async.js';
import type { Ask } from '../../shared/call-sink.js';
import type { JsonObject } from '../../shared/json.js';
import { CODE, MCP_CODE } from '../../shared/mcp/rpc-codes.js';
import { shellWord } from '../../shared/text/shell-word.js';
import type { Call } from '../calls/call.js';
import type { Session } from '../calls/session.js';

/** Which requests of servers may be passed to agents. */
export type Permissions = Pick<Settings['security'], 'sampling' | 'elicitation'>;

export const ALL_PERMITTED: Permissions = { sampling: 'ask-agent', elicitation: 'ask-agent' };

/** The roots of the config; `agent`: the agent whose call the server works on is asked for its own. */
export type RootSource = readonly Root[] | 'agent';

/** A server that one agent has for itself gets that agent's roots, unless its entry names others. */
export function rootSource({ roots, sharing }: Pick<ServerSpec, 'roots' | 'sharing'>): RootSource {
  return roots.length === 0 && sharing === 'per-agent' ? 'agent' : roots;
}

/** What is needed to answer a request of a server. */
export interface RequestPorts {
  /** The server's name, for messages. */
  name: string;
  roots: RootSource;
  permissions: Permissions;
  session: Pick<Session, 'running' | 'unansweredCallers'>;
}

/** The error that a server gets for its request: what was refused, why, and what would help. */
class RequestRefused extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Requests for a person or a model behind an agent, and the setting that may forbid them. */
const FOR_AGENT: Readonly<Record<string, keyof Permissions>> = {
  'sampling/createMessage': 'sampling',
  'elicitation/create': 'elicitation',
};

/** The capabilities that a server sees: which requests it may send. */
export function clientCapabilities({ roots, permissions }: Pick<RequestPorts, 'roots' | 'permissions'>) {
  const { sampling, elicitation } = permissions;
  return {
    ...(roots.length > 0 ? { roots: { listChanged: false } } : {}),
    ...(sampling === 'deny' ? {} : { sampling: {} }),
    ...(elicitation === 'deny' ? {} : { elicitation: { form: {}, url: {} } }),
  };
}

/**
 * Answers a request of a server: configured roots from the config, everything else by the agent whose call the server works on. The
 * protocol does not say which call that is, so it is only known while a single caller has unanswered calls. Calls that
 * were cancelled or timed out count too: most servers finish what they have begun.
 */
export async function answerRequest(
  ports: RequestPorts,
  method: string,
  params: JsonObject | undefined,
  signal: AbortSignal,
): Promise<JsonObject> {
  return answerFor(ports, () => callsOfOneCaller(ports, method), method, params, signal);
}

/** The same where it is known which calls the request belongs to. */
export async function answerFor(
  ports: RequestPorts,
  calls: () => readonly Call[],
  method: string,
  params: JsonObject | undefined,
  signal: AbortSignal,
): Promise<JsonObject> {
  const { name, roots, permissions } = ports;
  const isForRoots = method === 'roots/list';
  if (isForRoots && roots !== 'agent' && roots.length > 0)
    return { roots: roots.map((root) => ({ ...root })) };
  const setting = Object.hasOwn(FOR_AGENT, method) ? FOR_AGENT[method] : undefined;
  if (setting === undefined && !(isForRoots && roots === 'agent')) {
    const hint = isForRoots ? `: ${name} has no 'roots' in its config` : '';
    throw new RequestRefused(CODE.methodNotFound, `toolherd cannot answer ${method} for ${name}${hint}`);
  }
  if (setting !== undefined && permissions[setting] === 'deny') {
    throw refusal(ports, method, `security.${setting} is 'deny'`, `set it to 'ask-agent' in config.yaml`);
  }
  const asked = calls();
  // of several calls the server most likely works on the newest
  const ask = asked.findLast(({ sink }) => sink.ask !== undefined)?.sink.ask;
  if (ask === undefined) {
    const why = 'the agent whose call is in flight cannot answer it';
    throw refusal(ports, method, why, `use an agent that offers '${setting ?? 'roots'}'`);
  }
  return hold(asked, signal, (wanted) => ask(method, params, wanted));
}

function callsOfOneCaller(ports: RequestPorts, method: string): Call[] {
  // toolherd's own requests (lists, pings) have no caller, so no agent could be asked
  const calls = [...ports.session.running].filter(({ caller }) => caller !== undefined);
  const callers = new Set(calls.map(({ caller }) => caller));
  if (callers.size === 0) {
    throw refusal(ports, method, 'no call is in flight, so no agent can be asked', 'ask during a call');
  }
  const fix = `set 'sharing: per-agent' for ${ports.name}`;
  if (callers.size > 1) {
    const why = `${callers.size} agents have calls in flight, and nothing tells which of them is meant`;
    throw refusal(ports, method, why, fix);
  }
  if ([...ports.session.unansweredCallers].some((caller) => !callers.has(caller))) {
    const why = `a call that another agent cancelled or gave up is unanswered, and nothing tells which of them is meant`;
    throw refusal(ports, method, why, `${fix}, or run: toolherd restart ${shellWord(ports.name)}`);
  }
  return calls;
}

/** The calls wait, without a timeout of the server, while an agent is asked. The question is withdrawn when all have ended. */
async function hold(
  calls: readonly Call[],
  signal: AbortSignal,
  ask: (signal: AbortSignal) => ReturnType<Ask>,
): Promise<JsonObject> {
  const wanted = new AbortController();
  const waiting = new Set(calls);
  const ended = (call: Call) => {
    if (waiting.delete(call) && waiting.size === 0) wanted.abort(new Error('the call has ended'));
  };
  for (const call of calls) call.hold();
  const listeners = [
    onAbort(signal, () => wanted.abort(signal.reason)),
    ...calls.map((call) => onAbort(call.ended, () => ended(call))),
  ];
  try {
    return await Promise.race([ask(wanted.signal), whenAborted(wanted.signal)]);
  } finally {
    for (const end of listeners) end();
    for (const call of calls) call.release();
  }
}

/** Rejects when the answer is not wanted any more, even if the agent ignores the signal. */
function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    onAbort(signal, () => reject(new RequestRefused(MCP_CODE.failed, 'the answer is not wanted any more')));
  });
}

function refusal({ name }: RequestPorts, method: string, why: string, fix: string): RequestRefused {
  return new RequestRefused(MCP_CODE.failed, `toolherd cannot answer ${method} for ${name}: ${why}; ${fix}`);
}
