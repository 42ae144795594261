import { claudeCode } from './programs/claude-code.js';
import { claudeDesktop } from './programs/claude-desktop.js';
import type { Client } from './programs/client.js';
import { cline } from './programs/cline.js';
import { codex } from './programs/codex.js';
import { cursor } from './programs/cursor.js';
import { gemini } from './programs/gemini.js';
import { holodeck } from './programs/holodeck.js';
import { opencode } from './programs/opencode.js';
import { vscode } from './programs/vscode.js';
import { windsurf } from './programs/windsurf.js';
import { zed } from './programs/zed.js';

export { attachClient, detachClient, formatEntry, isAttached } from './attach.js';
export {
  type BrokenFile,
  type Findings,
  type FoundServer,
  findServers,
  isOurBridge,
} from './find-servers.js';
export type { Client, Machine, Program, Scope } from './programs/client.js';

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
