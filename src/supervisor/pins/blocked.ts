import type { ServerSpec } from '../../config/fields/spec.js';
import { type MCPError, TrustRequiredError } from '../../shared/call-errors.js';
import { shellWord } from '../../shared/text/shell-word.js';
import { changedFields } from './fingerprint.js';
import { definitionIn, type Pin } from './record.js';

/** Why a tool is blocked, and what unblocks it. */
export interface Block {
  why: string;
  fix: string;
}

export function blockedTool(server: string, tool: string, { why, fix }: Block): MCPError {
  return new TrustRequiredError(`${server}: the tool '${tool}' is blocked (security.pin is 'enforce')`, {
    why,
    fix,
  });
}

export function notAsPinned(server: string, pin: Pin): Block {
  const fix = `read the difference, and accept it if it is wanted: toolherd pins ${shellWord(server)} --accept`;
  const { pinned } = pin;
  if (pinned === undefined) return { why: 'it was not there when the tools of this server were pinned', fix };
  return { why: `its ${whatChanged(pin)} changed after it was pinned (${pinned.at})${byPackage(pin)}`, fix };
}

/** Which version of the package brought the change. */
function byPackage({ pinned, offered }: Pin): string {
  if (offered?.package === undefined) return '';
  const before = pinned?.package === undefined ? '' : `, and ${pinned.package} was pinned`;
  return `: ${offered.package} brought the change${before}`;
}

/** In words: `description and inputSchema`. */
export function whatChanged({ pinned, offered }: Pin): string {
  const [before, after] = [pinned && definitionIn(pinned), offered && definitionIn(offered)];
  const fields = before === undefined || after === undefined ? [] : changedFields(before, after);
  if (fields.length === 0) return 'definition';
  return [fields.slice(0, -1).join(', '), fields.at(-1)].filter(Boolean).join(' and ');
}

export function cannotBePinned(most: number): Block {
  return {
    why: `no more than ${most} tools of a server can be pinned, and none whose name is very long`,
    fix: "see the server's own settings for a smaller choice of tools, or set security.pin to 'warn'",
  };
}

export function pinsUnreadable(server: string, problem: string): Block {
  return {
    why: `the pins cannot be read: ${problem}`,
    fix: `check its present tools and accept them: toolherd pins ${shellWord(server)} --accept`,
  };
}

export function pinsUnwritable(problem: string): Block {
  return { why: `it could not be pinned: ${problem}`, fix: 'make the file writable' };
}

/** Its tools were not read, so nothing could be compared. */
export function notCompared({ name, loadTools, origin }: ServerSpec): Block {
  if (loadTools)
    return {
      why: 'its list of tools could not be read',
      fix: `see "toolherd logs ${shellWord(name)}"; then restart it`,
    };
  const fix = `set 'load_tools: true' in ${origin.file}`;
  return { why: "its entry says 'load_tools: false', so its tools cannot be compared with their pins", fix };
}
