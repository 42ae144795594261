import { ToolherdError } from '../shared/errors.js';

/** The registry does not answer, or its answer cannot be used. */
export class RegistryUnreachableError extends ToolherdError {
  override readonly type: string = 'RegistryUnreachableError';
}

/** The caller's timeout passed. */
export class RegistryTimeoutError extends RegistryUnreachableError {
  override readonly type = 'RegistryTimeoutError';
}

/** The registry has no such server or no such version. */
export class RegistryNotFoundError extends ToolherdError {
  override readonly type = 'RegistryNotFoundError';
}

/** The server exists, but it cannot or must not be added. */
export class RegistryRefusedError extends ToolherdError {
  override readonly type = 'RegistryRefusedError';
}

/** Nothing answers at the registry's address, or something else does. */
export function unusableRegistry({ origin }: URL, why: string): RegistryUnreachableError {
  return new RegistryUnreachableError(`the registry at ${origin} cannot be used`, {
    why,
    fix: 'check the network, and TOOLHERD_REGISTRY or daemon.registry if you use another registry',
  });
}
