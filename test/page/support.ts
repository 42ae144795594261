import type { CallEvent, DaemonStatus, ServerStatus } from '../../src/fleet/fleet.js';

/** A connected server without any problem. */
export function serverOf(name: string, more: Partial<ServerStatus> = {}): ServerStatus {
  return {
    name,
    agent: null,
    state: 'connected',
    detail: 'running',
    transport: 'stdio',
    lifecycle: 'singleton',
    pids: [100],
    incarnation: 1,
    restarts: 0,
    next_retry_at: null,
    last_error: null,
    since: '2026-11-18T12:00:00.000Z',
    in_flight: 0,
    calls: 0,
    failures: 0,
    latency_ms: { p50: null, p99: null },
    tools: 2,
    prompts: 0,
    resources: 0,
    lists: { tools: { freshness: 'fresh' } },
    protocol_version: null,
    server_info: null,
    rss_bytes: 0,
    ...more,
  };
}

export function daemonOf(more: Partial<DaemonStatus> = {}): DaemonStatus {
  return {
    version: '0.1.0',
    pid: 1,
    started_at: '2026-11-18T12:00:00.000Z',
    socket: '/run/toolherd.sock',
    config_file: '/config.yaml',
    config_error: null,
    ...more,
  };
}

export function callOf(more: Partial<CallEvent> = {}): CallEvent {
  return {
    topic: 'call',
    server: 'github',
    method: 'tools/call',
    tool: 'search',
    arguments: null,
    caller: 'c1',
    daemon_pid: 1,
    via: 'socket',
    client: { name: 'claude-code', version: '2.0' },
    agent: null,
    request_id: '1-1',
    incarnation: 1,
    sent: true,
    duration_ms: 12,
    ok: true,
    error: null,
    code: null,
    bytes: 10,
    at: '2026-11-18T12:00:00.000Z',
    ...more,
  };
}
