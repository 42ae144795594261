import { amp } from './clients/amp.js';
import { auggie } from './clients/auggie.js';
import { claudeCode } from './clients/claude-code.js';
import { claudeDesktop } from './clients/claude-desktop.js';
import type { Client } from './clients/client.js';
import { cline } from './clients/cline.js';
import { codex, grok } from './clients/codex.js';
import { continueDev } from './clients/continue.js';
import { copilot } from './clients/copilot.js';
import { cursor } from './clients/cursor.js';
import { droid } from './clients/droid.js';
import { gemini, qwen } from './clients/gemini.js';
import { goose } from './clients/goose.js';
import { holodeck } from './clients/holodeck.js';
import { junie } from './clients/junie.js';
import { lmStudio } from './clients/lm-studio.js';
import { kilo, opencode } from './clients/opencode.js';
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
  copilot,
  qwen,
  kilo,
  grok,
  droid,
  continueDev,
  goose,
  auggie,
  amp,
  junie,
  lmStudio,
  holodeck,
];

/** Other names for clients. One alias can mean several. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  claude: ['claude-desktop', 'claude-code'],
  code: ['vscode'],
  'copilot-cli': ['copilot'],
  devin: ['windsurf'],
  factory: ['droid'],
  'gemini-cli': ['gemini'],
  lmstudio: ['lm-studio'],
  'qwen-code': ['qwen'],
};

/** The clients of this name or alias; empty for an unknown one. */
export function clientsNamed(name: string): readonly Client[] {
  const meant = Object.hasOwn(ALIASES, name) ? (ALIASES[name] ?? []) : [name];
  return CLIENTS.filter((client) => meant.includes(client.name));
}
