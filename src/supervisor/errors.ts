import { MCPError } from '../link/errors.js';

/** No server of this name is configured. */
export class ServerNotFoundError extends MCPError {
  override readonly type: string = 'ServerNotFoundError';
}

/** The server has no such tool. */
export class MCPToolNotFoundError extends MCPError {
  override readonly type: string = 'MCPToolNotFoundError';
}

/** The tool ran and said that it failed. */
export class MCPToolError extends MCPError {
  override readonly type: string = 'MCPToolError';
}
