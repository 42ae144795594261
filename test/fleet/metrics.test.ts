import { describe, expect, it } from 'vitest';
import type { FleetStatus, ServerStatus } from '../../src/fleet/fleet.js';
import { healthOf, toMetrics } from '../../src/fleet/metrics.js';
import { status } from '../ipc/fake-fleet.js';

const DAEMON = {
  version: '1.2.3',
  pid: 1,
  started_at: '2026-01-01T00:00:00.000Z',
  socket: '/s',
  config_file: '/c',
  config_error: null,
};

function fleet(...servers: ServerStatus[]): FleetStatus {
  return { servers, daemon: DAEMON };
}

const linesOf = (text: string, name: string) =>
  text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));

describe('metrics', () => {
  it('have the values of status, in seconds and bytes', () => {
    const busy: ServerStatus = {
      ...status('busy'),
      state: 'connected',
      detail: 'running',
      pids: [7, 8],
      calls: 10,
      failures: 2,
      restarts: 1,
      in_flight: 3,
      latency_ms: { p50: 250, p99: 1500 },
      rss_bytes: 1024,
      tools: 5,
    };
    const text = toMetrics(fleet(busy));
    for (const line of [
      'toolherd_up 1',
      'toolherd_build_info{version="1.2.3"} 1',
      'toolherd_start_time_seconds 1767225600',
      'toolherd_servers 1',
      'toolherd_server_state{server="busy",state="connected"} 1',
      'toolherd_server_state{server="busy",state="error"} 0',
      'toolherd_server_detail{server="busy",detail="running"} 1',
      'toolherd_calls_total{server="busy"} 10',
      'toolherd_failures_total{server="busy"} 2',
      'toolherd_restarts_total{server="busy"} 1',
      'toolherd_in_flight{server="busy"} 3',
      'toolherd_latency_seconds{server="busy",quantile="0.5"} 0.25',
      'toolherd_latency_seconds{server="busy",quantile="0.99"} 1.5',
      'toolherd_rss_bytes{server="busy"} 1024',
      'toolherd_processes{server="busy"} 2',
      'toolherd_tools{server="busy"} 5',
    ])
      expect(text.split('\n')).toContain(line);
  });

  it('have each sample once: the connections of one agent are added up', () => {
    const own = { ...status('own'), agent: '/agent.yaml', calls: 2, latency_ms: { p50: 10, p99: 20 } };
    const text = toMetrics(
      fleet(own, { ...own, calls: 3, latency_ms: { p50: 30, p99: null } }, status('own')),
    );
    const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    const names = samples.map((line) => line.slice(0, line.lastIndexOf(' ')));
    expect(new Set(names).size).toBe(names.length);
    for (const line of [
      'toolherd_servers 3',
      'toolherd_calls_total{server="own",agent="/agent.yaml"} 5',
      'toolherd_calls_total{server="own"} 0',
      'toolherd_server_state{server="own",agent="/agent.yaml",state="created"} 2',
      'toolherd_latency_seconds{server="own",agent="/agent.yaml",quantile="0.5"} 0.03',
      'toolherd_latency_seconds{server="own",agent="/agent.yaml",quantile="0.99"} 0.02',
    ])
      expect(samples).toContain(line);
  });

  it('have one state per server, and no sample of an unknown value', () => {
    const text = toMetrics(fleet(status('a')));
    expect(linesOf(text, 'toolherd_server_state').filter((line) => line.endsWith(' 1'))).toHaveLength(1);
    expect(linesOf(text, 'toolherd_latency_seconds')).toEqual([]);
    expect(linesOf(text, 'toolherd_rss_bytes')).toEqual([]);
  });

  it('escape names of servers and agents in labels', () => {
    const text = toMetrics(fleet({ ...status('a"b\\c\nd'), agent: '/x "y"' }));
    expect(linesOf(text, 'toolherd_calls_total')).toEqual([
      'toolherd_calls_total{server="a\\"b\\\\c\\nd",agent="/x \\"y\\""} 0',
    ]);
  });

  it('have only comments and samples, and a TYPE line before the first sample of each metric', () => {
    const text = toMetrics(fleet(status('a'), status('b')));
    expect(text.endsWith('\n')).toBe(true);
    const told = new Set<string>();
    for (const line of text.trimEnd().split('\n')) {
      const [, kind, name = ''] = /^# (HELP|TYPE) (\w+) \S/.exec(line) ?? [];
      if (kind === 'TYPE') told.add(name);
      if (kind !== undefined) continue;
      const [, sampled = ''] = /^(\w+)(?:\{(?:\w+="(?:[^"\\]|\\.)*",?)+\})? [\d.e+-]+$/.exec(line) ?? [];
      expect(told, line).toContain(sampled);
    }
    expect([...told].filter((name) => name.endsWith('_total'))).toHaveLength(4);
  });
});

describe('health', () => {
  it.each([
    ['ok', fleet(status('a'))],
    ['degraded', fleet(status('a'), { ...status('b'), detail: 'quarantined' })],
    ['degraded', fleet(status('a'), { ...status('b'), detail: 'misconfigured' })],
    ['degraded', { ...fleet(), daemon: { ...DAEMON, config_error: 'bad' } }],
  ])('is %s', (word, herd) => {
    expect(healthOf(herd)).toMatchObject({
      status: word,
      version: '1.2.3',
      servers: { total: herd.servers.length },
    });
  });
});
