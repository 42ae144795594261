import type { AuditParams, CallEvent } from './fleet.js';

type Matcher = (call: CallEvent) => boolean;

/** Which calls a search of the audit wants; the same for records and for live events. */
export function callMatcher(params: AuditParams): Matcher {
  const { server, tool, caller, client, agent, profile, outcome, text } = params;
  const tests: Matcher[] = [];
  if (server !== undefined) tests.push((call) => call.server === server);
  if (tool !== undefined) tests.push((call) => call.tool === tool || call.called_as === tool);
  if (caller !== undefined) tests.push((call) => call.caller === caller);
  if (client !== undefined) tests.push((call) => call.client?.name === client);
  if (agent !== undefined) tests.push((call) => call.agent === agent);
  if (profile !== undefined) tests.push((call) => call.profile === profile);
  if (outcome !== undefined) tests.push((call) => call.ok === (outcome === 'ok'));
  if (text !== undefined) {
    const wanted = text.toLowerCase();
    tests.push((call) => namesIn(call).some((name) => name?.toLowerCase().includes(wanted)));
  }
  return (call) => tests.every((test) => test(call));
}

function namesIn(call: CallEvent): (string | null | undefined)[] {
  const { server, method, tool, called_as, caller, client, agent, profile, error, request_id } = call;
  return [server, method, tool, called_as, caller, client?.name, agent, profile, error, request_id];
}
