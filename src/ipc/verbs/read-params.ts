import { isAbsolute } from 'node:path';
import {
  type AuditParams,
  type AuthorizeParams,
  type BroadcastParams,
  type CallManyParams,
  type CallParams,
  type HistoryParams,
  type LogParams,
  type PinParams,
  type PromptParams,
  REQUESTS,
  type RequestParams,
  type ResourceParams,
  type SearchParams,
  type Selection,
} from '../../fleet/fleet.js';
import { LOG_LEVELS } from '../../shared/mcp/log-levels.js';
import { type Params, wrong } from '../jsonrpc/params.js';
import type { VerbArguments, VerbName } from './verbs.js';

type Readers = { readonly [Name in VerbName]: (params: Params) => VerbArguments<Name> };

const order: Readers['start'] = (params) => [selection(params), params.optionalFlag('wait')];

const list: Readers['resources'] = (params) => [
  params.optionalText('server'),
  params.optionalFlag('refresh'),
];

/** Checks the params of each verb and makes the arguments of the method of `Fleet` from them. */
const READERS: Readers = {
  status: (params) => [params.optionalTexts('servers')],
  history: (params) => [historyParams(params)],
  agents: () => [],
  audit: (params) => [auditParams(params)],
  start: order,
  stop: order,
  restart: order,
  reset: order,
  tools: list,
  prompts: list,
  resources: list,
  search: (params) => [searchParams(params)],
  profiles: () => [],
  prompt: (params) => [promptParams(params)],
  resource: (params) => [resourceParams(params)],
  request: (params) => [requestParams(params)],
  call: (params) => [callParams(params)],
  callMany: (params) => [manyParams(params)],
  broadcast: (params) => [broadcastParams(params)],
  inspect: (params) => [params.text('server')],
  pins: (params) => [pinParams(params)],
  outdated: (params) => [params.optionalTexts('servers')],
  update: (params) => [selection(params), params.optionalFlag('dry_run')],
  authorize: (params) => [authorizeParams(params)],
  logout: (params) => [params.text('server')],
  reload: (params) => [params.optionalFlag('dry_run')],
  logs: (params) => [logParams(params)],
  register: registerArguments,
  unregister: (params) => [params.text('name')],
  cluster: () => [],
  clusterDrain: () => [],
  clusterUndrain: () => [],
  ui: () => [],
};

/** The arguments of a verb, from the socket or from a script that has the herd in its process. */
export function readArguments(name: VerbName, params: Params): unknown[] {
  return READERS[name](params);
}

function selection(params: Params): Selection {
  const all = params.optionalFlag('all') === true;
  if (all && params.has('servers')) throw wrong("'servers' and 'all' exclude each other");
  if (all) return { all };
  if (!params.has('servers')) throw wrong("'servers' is missing: a list of names, or 'all': true");
  return { servers: params.texts('servers') };
}

function callParams(params: Params): CallParams {
  return {
    server: params.text('server'),
    tool: params.text('tool'),
    arguments: params.optionalRecord('arguments'),
    timeout_ms: params.optionalMs('timeout_ms', 1),
    request_id: params.optionalText('request_id'),
  };
}

function manyParams(params: Params): CallManyParams {
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

function broadcastParams(params: Params): BroadcastParams {
  return {
    tool: params.text('tool'),
    arguments: params.optionalRecord('arguments'),
    servers: params.optionalTexts('servers'),
    timeout_ms: params.optionalMs('timeout_ms', 1),
  };
}

function searchParams(params: Params): SearchParams {
  return {
    query: params.text('query'),
    limit: params.optionalWhole('limit'),
    server: params.optionalText('server'),
  };
}

function promptParams(params: Params): PromptParams {
  return {
    server: params.text('server'),
    name: params.text('name'),
    arguments: params.optionalRecord('arguments'),
    timeout_ms: params.optionalMs('timeout_ms', 1),
  };
}

function resourceParams(params: Params): ResourceParams {
  return {
    server: params.text('server'),
    uri: params.text('uri'),
    timeout_ms: params.optionalMs('timeout_ms', 1),
  };
}

function requestParams(params: Params): RequestParams {
  return {
    server: params.optionalText('server'),
    method: params.choice('method', REQUESTS),
    params: params.optionalRecord('params') ?? {},
    timeout_ms: params.optionalMs('timeout_ms', 1),
  };
}

function authorizeParams(params: Params): AuthorizeParams {
  return {
    server: params.text('server'),
    wait: params.optionalFlag('wait'),
    client_id: params.optionalText('client_id'),
    client_secret: params.optionalText('client_secret'),
  };
}

function pinParams(params: Params): PinParams {
  return {
    server: params.optionalText('server'),
    accept: params.optionalFlag('accept'),
    hashes: params.optionalTexts('hashes'),
  };
}

function historyParams(params: Params): HistoryParams {
  return { servers: params.optionalTexts('servers'), minutes: params.optionalWhole('minutes') };
}

function auditParams(params: Params): AuditParams {
  return {
    server: params.optionalText('server'),
    tool: params.optionalText('tool'),
    caller: params.optionalText('caller'),
    client: params.optionalText('client'),
    agent: params.optionalText('agent'),
    profile: params.optionalText('profile'),
    outcome: params.optionalChoice('outcome', ['ok', 'failed']),
    text: params.optionalText('text'),
    since: params.optionalTime('since'),
    limit: params.optionalWhole('limit'),
    before: params.optionalText('before'),
  };
}

function logParams(params: Params): LogParams {
  return {
    server: params.optionalText('server'),
    tail: params.optionalWhole('tail'),
    since: params.optionalTime('since'),
    level: params.optionalChoice('level', LOG_LEVELS),
  };
}

/** The document is the params without `_meta`; `_meta.folder` is where its relative paths begin. */
function registerArguments(params: Params): VerbArguments<'register'> {
  const folder = params.meta('folder');
  if (folder !== undefined && !isAbsolute(folder)) throw wrong("'_meta.folder' must be a full path");
  return [params.rest(), folder];
}
