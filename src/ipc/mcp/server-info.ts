import { VERSION } from '../../shared/version.js';

/** How the herd introduces itself to clients of MCP, in every era. */
export const SERVER_INFO = { name: 'toolherd', version: VERSION };

export const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  logging: {},
  completions: {},
};
