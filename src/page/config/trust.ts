import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { TrustedFile } from '../../fleet/ui.js';
import { refreshSoon, request } from '../live/store.js';
import { Code, Pill, Section } from '../parts/basics.js';
import { Button } from '../parts/button.js';
import { confirm } from '../parts/dialog.js';
import { act, say } from '../parts/toast.js';
import type { Tone } from '../text/server-state.js';

const TONES: Readonly<Record<TrustedFile['status'], Tone>> = {
  allowed: 'good',
  'not allowed': 'warn',
  changed: 'warn',
  unreadable: 'bad',
};

/** Files that wait for a decision stand first. */
const ORDER = ['changed', 'not allowed', 'unreadable', 'allowed'];

/** The agent files that clients asked for, with what each would run. */
export function TrustSection({ files, refresh }: { files: readonly TrustedFile[]; refresh(): void }): VNode {
  const sorted = [...files].sort((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status));
  const waiting = files.filter(({ status }) => status === 'not allowed' || status === 'changed').length;
  return html`
    <${Section} title="Agent files" aside=${waiting === 0 ? 'nothing to decide' : `${waiting} to decide`}>
      <div class="card-body trust">
        ${
          files.length === 0 &&
          html`
          <p class="muted">No client has asked for an agent.yaml, and none is allowed. A project's agent.yaml runs only after you
            have allowed it.</p>`
        }
        ${sorted.map((file) => html`<${TrustItem} key=${file.file} file=${file} refresh=${refresh} />`)}
      </div>
    <//>`;
}

function TrustItem({ file: given, refresh }: { file: TrustedFile; refresh(): void }): VNode {
  const { file, status, digest, problem, would_run } = given;
  const isWaiting = status === 'not allowed' || status === 'changed';
  const words = would_run.join('\n');
  const buttons =
    status === 'allowed'
      ? html`<${Button} size="small" label=${`Revoke ${file}`} onClick=${() => revoke(file, refresh)}>Revoke<//>`
      : digest !== null &&
        html`<${Button} size="small" tone="primary" label=${`Allow ${file}`} onClick=${() => allow(file, digest, words, refresh)}>Allow<//>`;
  return html`
    <article class="trust-item">
      <header><${Pill} tone=${TONES[status]}>${status}<//><code>${file}</code><span class="actions">${buttons}</span></header>
      ${status === 'changed' && html`<p>You allowed it, and it has changed since.</p>`}
      ${problem && html`<p class="text-bad pre">${problem}</p>`}
      ${
        would_run.length > 0 &&
        html`<details open=${isWaiting}><summary>What it would run</summary><${Code} text=${words}
        label=${`What ${file} would run`} /></details>`
      }
    </article>`;
}

interface Noted {
  notes?: readonly string[];
}

function sayNotes({ notes = [] }: Noted): void {
  for (const note of notes) say(note, 'warn');
}

/** By its digest, so that only what is shown is allowed. */
async function allow(file: string, digest: string, words: string, refresh: () => void): Promise<void> {
  const isYes = await confirm({
    title: 'Allow this?',
    body: html`<${Code} text=${words} label="What would run" />`,
    action: 'Allow',
  });
  if (!isYes) return;
  const done = await act(
    `Allow ${file}`,
    () => request<Noted>('page/allow', { file, digest }),
    () => `allowed: ${file}`,
  );
  if (done !== undefined) sayNotes(done);
  refreshSoon();
  refresh();
}

async function revoke(file: string, refresh: () => void): Promise<void> {
  const isYes = await confirm({
    title: 'Revoke this file?',
    body: html`<p><code>${file}</code></p><p>Its servers are stopped. It runs nothing until you allow it again.</p>`,
    action: 'Revoke',
    tone: 'danger',
  });
  if (!isYes) return;
  const done = await act(
    `Revoke ${file}`,
    () => request<Noted>('page/revoke', { file }),
    () => `revoked: ${file}`,
  );
  if (done !== undefined) sayNotes(done);
  refreshSoon();
  refresh();
}
