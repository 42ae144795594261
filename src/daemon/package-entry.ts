import type { ServerSpec, StdioSpec } from '../config/fields/spec.js';
import { childEnvironment } from '../link/stdio/environment.js';
import type { PackageEntry } from '../packages/entry.js';
import type { Environment } from '../shared/environment.js';

/** What src/packages has to know of a server. `environment`: the daemon's own. */
export function packageEntry(spec: StdioSpec, environment: Environment): PackageEntry {
  const { name, command, args, cwd, env, runner, update = 'auto' } = spec;
  return {
    ...{ server: name, command, args, cwd, declared: env, runner, update },
    env: (cookie) => childEnvironment(environment, spec, cookie),
  };
}

/** Of all servers that are processes and may run. */
export function packageEntries(specs: readonly ServerSpec[], environment: Environment): PackageEntry[] {
  return specs.flatMap((spec) =>
    spec.transport === 'stdio' && spec.enabled ? [packageEntry(spec, environment)] : [],
  );
}
