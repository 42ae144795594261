import type { DaemonStatus, Detail, FleetStatus, ServerState, ServerStatus } from './fleet.js';

/** In the order in which they are shown. */
const STATES: readonly ServerState[] = ['created', 'connecting', 'connected', 'error', 'disconnected'];
const DETAILS: readonly Detail[] = [
  'idle',
  'running',
  'waiting',
  'quarantined',
  'stopped',
  'disabled',
  'needs_auth',
  'not_allowed',
  'misconfigured',
];

const PROBLEMS: readonly Detail[] = ['quarantined', 'waiting', 'misconfigured'];

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [labels: Labels, value: number | null];

interface Metric {
  name: string;
  type: 'gauge' | 'counter';
  help: string;
  samples: readonly Sample[];
  /** Joins samples with the same labels: connections of one agent may each have a server of the same name. */
  together?: (one: number, other: number) => number;
}

/** The herd in the text format of Prometheus (version 0.0.4). */
export function toMetrics({ servers, daemon }: FleetStatus): string {
  return [...daemonMetrics(daemon), ...serverMetrics(servers)].map(textOf).join('');
}

/** A summary for health checks. The socket has the details. */
export function healthOf({ servers, daemon }: FleetStatus) {
  const counts = DETAILS.map((detail) => [
    detail,
    servers.filter((status) => status.detail === detail).length,
  ]);
  const hasProblem = daemon.config_error !== null || servers.some(({ detail }) => PROBLEMS.includes(detail));
  return {
    status: hasProblem ? 'degraded' : 'ok',
    version: daemon.version,
    servers: { total: servers.length, ...Object.fromEntries(counts) },
  };
}

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

function daemonMetrics({ version, started_at, audit }: DaemonStatus): Metric[] {
  const startedAt = Date.parse(started_at) / 1000;
  return [
    gauge('toolherd_up', 'The daemon serves.', [[{}, 1]]),
    gauge('toolherd_build_info', 'The version of the daemon, as a label.', [[{ version }, 1]]),
    gauge('toolherd_start_time_seconds', 'When the daemon started, in seconds since 1970.', [
      [{}, startedAt],
    ]),
    counter('toolherd_audit_lost_total', 'Calls that could not be written down.', [[{}, audit?.lost ?? 0]]),
  ];
}

function serverMetrics(servers: readonly ServerStatus[]): Metric[] {
  const each = (measure: (status: ServerStatus) => number | null): Sample[] =>
    servers.map((status) => [labelsOf(status), measure(status)]);
  const oneOf = (label: 'state' | 'detail', values: readonly string[]): Sample[] =>
    servers.flatMap((status) =>
      values.map(
        (value): Sample => [{ ...labelsOf(status), [label]: value }, status[label] === value ? 1 : 0],
      ),
    );
  const latency = (quantile: string, measure: (status: ServerStatus) => number | null): Sample[] =>
    servers.map((status) => [{ ...labelsOf(status), quantile }, seconds(measure(status))]);
  return [
    gauge('toolherd_servers', 'How many servers are configured.', [[{}, servers.length]]),
    gauge('toolherd_server_state', '1 for the state of the newest incarnation.', oneOf('state', STATES)),
    gauge('toolherd_server_detail', '1 for what the keeper is about.', oneOf('detail', DETAILS)),
    counter(
      'toolherd_calls_total',
      'Calls made.',
      each(({ calls }) => calls),
    ),
    counter(
      'toolherd_failures_total',
      'Calls that failed.',
      each(({ failures }) => failures),
    ),
    counter(
      'toolherd_restarts_total',
      'Restarts since the daemon started.',
      each(({ restarts }) => restarts),
    ),
    gauge(
      'toolherd_in_flight',
      'Calls in flight.',
      each(({ in_flight }) => in_flight),
    ),
    {
      ...gauge('toolherd_latency_seconds', 'How long recent calls took.', [
        ...latency('0.5', ({ latency_ms }) => latency_ms.p50),
        ...latency('0.99', ({ latency_ms }) => latency_ms.p99),
      ]),
      together: Math.max,
    },
    gauge(
      'toolherd_rss_bytes',
      'Memory of the process groups.',
      each(({ rss_bytes }) => rss_bytes),
    ),
    gauge(
      'toolherd_processes',
      'Processes that were started.',
      each(({ pids }) => pids.length),
    ),
    gauge(
      'toolherd_tools',
      'Tools on offer.',
      each(({ tools }) => tools),
    ),
  ];
}

function labelsOf({ name, agent }: ServerStatus): Labels {
  return agent === null ? { server: name } : { server: name, agent };
}

function seconds(ms: number | null): number | null {
  return ms === null ? null : ms / 1000;
}

function gauge(name: string, help: string, samples: readonly Sample[]): Metric {
  return { name, type: 'gauge', help, samples };
}

function counter(name: string, help: string, samples: readonly Sample[]): Metric {
  return { name, type: 'counter', help, samples };
}

function textOf({ name, type, help, samples, together = sum }: Metric): string {
  const values = new Map<string, number>();
  for (const [labels, value] of samples) {
    // unknown values are left out
    if (value === null) continue;
    const key = `${name}${labelText(labels)}`;
    const known = values.get(key);
    values.set(key, known === undefined ? value : together(known, value));
  }
  const lines = [...values].map(([key, value]) => `${key} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

const sum = (one: number, other: number) => one + other;

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
