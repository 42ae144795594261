import type { CallEvent } from '../../fleet/fleet.js';

export interface ServerHistory {
  name: string;
  calls: number[];
  failures: number[];
  restarts: number[];
  rss_bytes: (number | null)[];
}

export interface History {
  from: string;
  minute_ms: number;
  since?: string;
  servers: ServerHistory[];
}

export interface AgentStatus {
  caller: string;
  via: string;
  client: { name: string; version: string | null } | null;
  agent: string | null;
  profile: string | null;
  surface: string | null;
  since: string;
  calls: number;
  in_flight: { server: string; tool: string | null; method: string; since: string }[];
}

export interface ToolFigures {
  server: string;
  tool: string;
  calls: number;
  failures: number;
  p50_ms: number;
  p99_ms: number;
}

export interface AuditReport {
  calls: CallEvent[];
  next: string | null;
  searched: { from: string | null; records: number; complete: boolean };
  slowest: ToolFigures[];
  failing: ToolFigures[];
}
