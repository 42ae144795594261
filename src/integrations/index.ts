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

/** Every client that is known, in the order in which their servers count where names clash. */
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

/** Names that people use for them; one of them may be more than one client. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  claude: ['claude-desktop', 'claude-code'],
  code: ['vscode'],
  devin: ['windsurf'],
  'gemini-cli': ['gemini'],
};

/** The clients that are called so; none where nobody is. */
export function clientsNamed(name: string): readonly Client[] {
  const meant = Object.hasOwn(ALIASES, name) ? (ALIASES[name] ?? []) : [name];
  return CLIENTS.filter((client) => meant.includes(client.name));
}
