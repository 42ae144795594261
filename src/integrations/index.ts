import { claudeCode } from './clients/claude-code.js';
import { claudeDesktop } from './clients/claude-desktop.js';
import type { Client } from './clients/client.js';
import { cline } from './clients/cline.js';
import { codex } from './clients/codex.js';
import { cursor } from './clients/cursor.js';
import { gemini } from './clients/gemini.js';
import { holodeck } from './clients/holodeck.js';
import { opencode } from './clients/opencode.js';
import { vscode } from './clients/vscode.js';
import { windsurf } from './clients/windsurf.js';
import { zed } from './clients/zed.js';

export { attachClient, detachClient, formatEntry, isAttached } from './attach.js';
export { AttachRecord } from './attach-record.js';
export type { Client, Machine, Program, Scope } from './clients/client.js';
export { SecretExtractor } from './extract-secrets.js';
export {
  type BrokenFile,
  type Findings,
  type FoundServer,
  findServers,
  isOurBridge,
} from './find-servers.js';

/** Every known client. When two clients have a server of the same name, the earlier client wins. */
export const CLIENTS: readonly Client[] = [
  vscode,
  claudeDesktop,
  claudeCode,
  cursor,
  codex,
  gemini,
  windsurf,
  zed,
  cline,
  opencode,
  holodeck,
];

/** Other names for clients. One alias can mean several. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  claude: ['claude-desktop', 'claude-code'],
  code: ['vscode'],
  devin: ['windsurf'],
  'gemini-cli': ['gemini'],
};

/** The clients of this name or alias; empty for an unknown one. */
export function clientsNamed(name: string): readonly Client[] {
  const meant = Object.hasOwn(ALIASES, name) ? (ALIASES[name] ?? []) : [name];
  return CLIENTS.filter((client) => meant.includes(client.name));
}
