import { fileURLToPath } from 'node:url';
import type { StdioSpec } from '../../src/config/fields/spec.js';

export const fixture = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

/** A spec with every default filled in, for a fixture that is run with this Node. */
export function specOf(
  name: string,
  changes: Partial<StdioSpec> = {},
  args: readonly string[] = [],
): StdioSpec {
  return {
    transport: 'stdio',
    name: name.replace(/\.mjs$/, ''),
    description: undefined,
    server: name,
    registryName: undefined,
    origin: { scope: 'global', file: 'config.yaml', line: 1, column: 1 },
    enabled: true,
    command: process.execPath,
    args: [fixture(name), ...args],
    cwd: fileURLToPath(new URL('../fixtures', import.meta.url)),
    env: {},
    config: undefined,
    roots: [],
    encoding: 'utf-8',
    startTimeoutMs: 20_000,
    loadTools: true,
    loadPrompts: true,
    requestTimeoutMs: 20_000,
    maxTimeoutMs: 60_000,
    lifecycle: 'singleton',
    spares: 0,
    sharing: 'shared',
    replicas: 1,
    start: 'lazy',
    idleTimeoutMs: 0,
    restart: 'on-failure',
    maxRestarts: 5,
    restartWindowMs: 60_000,
    backoff: { minMs: 500, maxMs: 30_000, factor: 2, jitter: 0.2 },
    healthyAfterMs: 30_000,
    stop: { closeMs: 2000, termMs: 5000 },
    ping: { intervalMs: 15_000, timeoutMs: 10_000 },
    tools: { allow: [], deny: [] },
    maxMessageBytes: 64 * 2 ** 20,
    maxInFlight: 256,
    maxRss: 0,
    resultLimit: 0,
    ...changes,
  };
}
