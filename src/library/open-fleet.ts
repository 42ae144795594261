import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { trustedPath } from '../config/file-place.js';
import { type ConfigSource, readHerdConfig } from '../daemon/config-source.js';
import { HerdRuntime } from '../daemon/herd-runtime.js';
import { ConnectionFleet } from '../ipc/server/connection-fleet.js';
import { findPaths } from '../shared/paths.js';
import type { FleetHandle } from './api.js';
import { fleetHandle } from './fleet-handle.js';
import { localFleet } from './local-fleet.js';
import { makeOwnState } from './own-state.js';

export interface OpenOptions {
  /** A config.yaml; default: the user's own, which may be missing. */
  config?: string | undefined;
  /** An agent.yaml, which has to be allowed if it is not the user's own. */
  agent?: string | undefined;
}

/** Who calls: in this process there is nobody else. */
const CALLER = 'this process';

/** Runs the herd in this process. It prints nothing, and a daemon that runs beside it is not touched. */
export async function openFleet({ config, agent }: OpenOptions = {}): Promise<FleetHandle> {
  const userHome = homedir();
  const paths = findPaths(process.env, userHome);
  const source: ConfigSource = {
    file: config === undefined ? paths.configFile : resolve(config),
    isRequired: config !== undefined,
    paths,
    environment: { ...process.env },
    userHome,
    agentFile: agent === undefined ? undefined : trustedPath(resolve(agent)),
  };
  // first of all: what is wrong with the files leaves nothing behind
  const loaded = await readHerdConfig(source);
  const state = await makeOwnState(paths);
  const identity = { pid: process.pid, started_at: new Date().toISOString(), socket: '' };
  const runtime = await HerdRuntime.open({ ...source, paths: state.paths, loaded, identity });
  const close = async () => {
    await runtime.shutdown();
    await runtime.close();
    runtime.logs.close();
    state.remove();
  };
  runtime.begin();
  // the same fleet that a connection of the daemon gets
  const { fleet } = new ConnectionFleet(runtime.fleets, CALLER);
  return fleetHandle(localFleet(fleet), close);
}
