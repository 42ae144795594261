import { isAbsolute } from 'node:path';
import {
  type BroadcastParams,
  type CallManyParams,
  type CallParams,
  LOG_LEVELS,
  type LogParams,
  type PinParams,
  type PromptParams,
  type ResourceParams,
} from '../../fleet/fleet.js';
import { type Params, wrong } from '../jsonrpc/params.js';

/** What can be asked of a fleet, read and checked: from the socket, and from a script that has the herd in its process. */
export function callParams(params: Params): CallParams {
  return {
    server: params.text('server'),
    tool: params.text('tool'),
    arguments: params.optionalRecord('arguments'),
    timeout_ms: params.optionalMs('timeout_ms', 1),
    request_id: params.optionalText('request_id'),
  };
}

export function manyParams(params: Params): CallManyParams {
  const many = {
    calls: params.list('calls', callParams),
    concurrency: params.optionalWhole('concurrency'),
    mode: params.optionalChoice('mode', ['all', 'first', 'quorum']),
    quorum: params.optionalWhole('quorum'),
    timeout_ms: params.optionalMs('timeout_ms', 1),
  };
  if (many.mode === 'quorum' && many.quorum === undefined)
    throw wrong("'quorum' is missing: how many successes are enough");
  return many;
}

export function broadcastParams(params: Params): BroadcastParams {
  return {
    tool: params.text('tool'),
    arguments: params.optionalRecord('arguments'),
    servers: params.optionalTexts('servers'),
    timeout_ms: params.optionalMs('timeout_ms', 1),
  };
}

export function promptParams(params: Params): PromptParams {
  return {
    server: params.text('server'),
    name: params.text('name'),
    arguments: params.optionalRecord('arguments'),
    timeout_ms: params.optionalMs('timeout_ms', 1),
  };
}

export function resourceParams(params: Params): ResourceParams {
  return {
    server: params.text('server'),
    uri: params.text('uri'),
    timeout_ms: params.optionalMs('timeout_ms', 1),
  };
}

export function listParams(params: Params): { server: string | undefined; refresh: boolean | undefined } {
  return { server: params.optionalText('server'), refresh: params.optionalFlag('refresh') };
}

export function pinParams(params: Params): PinParams {
  return {
    server: params.optionalText('server'),
    accept: params.optionalFlag('accept'),
    hashes: params.optionalTexts('hashes'),
  };
}

export function logParams(params: Params): LogParams {
  return {
    server: params.optionalText('server'),
    tail: params.optionalWhole('tail'),
    since: params.optionalTime('since'),
    level: params.optionalChoice('level', LOG_LEVELS),
  };
}

/** The document is all that was said; where its paths begin is said beside it. */
export function registerParams(params: Params): {
  document: Record<string, unknown>;
  folder: string | undefined;
} {
  const folder = params.meta('folder');
  if (folder !== undefined && !isAbsolute(folder)) throw wrong("'_meta.folder' must be a full path");
  return { document: params.rest(), folder };
}
