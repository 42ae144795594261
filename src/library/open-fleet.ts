import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { trustedPath } from '../config/trust/trusted-path.js';
import { type ConfigSource, readHerdConfig } from '../daemon/config-source.js';
import { HerdRuntime } from '../daemon/herd-runtime.js';
import { ConnectionFleet } from '../ipc/server/connection-fleet.js';
import { findPaths } from '../shared/files/paths.js';
import type { FleetHandle } from './api.js';
import { fleetHandle } from './fleet-handle.js';
import { localFleet } from './local-fleet.js';
import { makeOwnState } from './own-state.js';

export interface OpenOptions {
  /** A config.yaml; default: that of the user, which may be missing. */
  config?: string | undefined;
  /** An agent.yaml. The user must have allowed it, unless it is in the user's own config folder. */
  agent?: string | undefined;
}

/** The only caller in this process. */
const CALLER = 'this process';

/** Runs a herd in this process. It prints nothing, and does not touch a daemon that runs at the same time. */
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
  // first of all: a wrong file must leave nothing behind
  const loaded = await readHerdConfig(source);
  const state = await makeOwnState(paths, source.environment);
  const identity = { pid: process.pid, started_at: new Date().toISOString(), socket: '' };
  const runtime = await HerdRuntime.open({ ...source, paths: state.paths, loaded, identity }).catch(
    (error) => {
      state.remove();
      throw error;
    },
  );
  const close = async () => {
    await runtime.close();
    runtime.logs.close();
    state.remove();
  };
  runtime.begin();
  // the same fleet that a connection of the daemon gets
  const { fleet } = new ConnectionFleet(runtime.fleets, CALLER);
  return fleetHandle(localFleet(fleet), close);
}
