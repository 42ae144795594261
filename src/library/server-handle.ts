import type { ServerStatus } from '../fleet/fleet.js';
import { AuthRequiredError, ServerUnavailableError } from '../shared/call-errors.js';
import { shellWord } from '../shared/text/shell-word.js';
import type { FleetHandle, ServerHandle } from './api.js';
import { fleetError } from './fleet-error.js';

export function serverHandle(fleet: FleetHandle, name: string): ServerHandle {
  return {
    name,
    async connect() {
      const status = first(await fleet.start(name), name);
      if (status.detail === 'running' || status.detail === 'idle') return status;
      throw fleetError(notUp(status));
    },
    disconnect: async () => first(await fleet.stop(name), name),
    status: async () => first((await fleet.status([name])).servers, name),
    callTool: (tool, args, options) => fleet.call(name, tool, args, options),
    getPrompt: (prompt, args, options) => fleet.prompt(name, prompt, args, options),
    readResource: (uri, options) => fleet.resource(name, uri, options),
    listTools: (options) => fleet.tools(name, options),
    listPrompts: (options) => fleet.prompts(name, options),
    listResources: (options) => fleet.resources(name, options),
  };
}

/** An unknown name was answered with an error, so there is a status. */
function first([status]: readonly ServerStatus[], name: string): ServerStatus {
  if (status === undefined)
    throw fleetError(new ServerUnavailableError(`${name}: the herd did not return its status`));
  return status;
}

function notUp({ name, detail, last_error, next_retry_at }: ServerStatus): Error {
  const state =
    next_retry_at === null ? `it is ${detail}` : `it is ${detail}; the next try is at ${next_retry_at}`;
  const details = {
    why: last_error?.why === undefined ? state : `${state}; ${last_error.why}`,
    fix: last_error?.fix ?? `see "toolherd why ${shellWord(name)}"`,
    retryable: detail === 'waiting',
  };
  const message = last_error?.message ?? `${name}: it did not start`;
  if (detail === 'needs_auth') return new AuthRequiredError(message, details);
  return new ServerUnavailableError(message, details);
}
