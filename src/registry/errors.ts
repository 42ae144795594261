import { ToolherdError } from '../shared/errors.js';

/** Nobody there, or nobody who answers in a way that can be used. */
export class RegistryUnreachableError extends ToolherdError {
  override readonly type: string = 'RegistryUnreachableError';
}

/** The time that the caller gave was not enough. */
export class RegistryTimeoutError extends RegistryUnreachableError {
  override readonly type = 'RegistryTimeoutError';
}

/** The registry knows no such server, or not in this version. */
export class RegistryNotFoundError extends ToolherdError {
  override readonly type = 'RegistryNotFoundError';
}

/** The server is there, and cannot or must not be added. */
export class RegistryRefusedError extends ToolherdError {
  override readonly type = 'RegistryRefusedError';
}
