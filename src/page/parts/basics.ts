import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ServerStatus } from '../../fleet/fleet.js';
import { elapsed } from '../../shared/text/elapsed.js';
import type { FleetError } from '../live/fleet-error.js';
import { now } from '../live/store.js';
import { clock, dateAndTime } from '../text/format.js';
import { stateWord, type Tone } from '../text/server-state.js';

/** A word with a dot of its tone. The word alone says it too. */
export function Pill({
  tone = 'calm',
  title,
  children,
}: {
  tone?: Tone | undefined;
  title?: string | undefined;
  children?: ComponentChildren;
}): VNode {
  return html`<span class="pill ${tone}" title=${title}><span class="dot" aria-hidden="true"></span>${children}</span>`;
}

export function StateBadge({ server }: { server: Pick<ServerStatus, 'state' | 'detail'> }): VNode {
  const { word, tone } = stateWord(server);
  return html`<${Pill} tone=${tone} title=${`${server.state}, ${server.detail}`}>${word}<//>`;
}

/** How long ago; the title has the time. `isBare`: without the word `ago`. */
export function Ago({ at, isBare = false }: { at: string | number; isBare?: boolean }): VNode {
  const ms = typeof at === 'number' ? at : Date.parse(at);
  const text = elapsed(now.value - ms);
  return html`<time datetime=${new Date(ms).toISOString()} title=${dateAndTime(ms)}>${isBare ? text : `${text} ago`}</time>`;
}

/** How long until then. */
export function Until({ at }: { at: string }): VNode {
  const ms = Date.parse(at);
  const left = ms - now.value;
  return html`<time datetime=${at} title=${dateAndTime(ms)}>${left > 0 ? `in ${elapsed(left + 999)}` : 'now'}</time>`;
}

/** When the numbers beside it were true. */
export function AsOf({ at }: { at: number | undefined }): VNode | null {
  if (at === undefined) return null;
  return html`<span class="asof" title=${dateAndTime(at)}>as of ${clock(at)}</span>`;
}

/** A page with its heading. The title of the tab follows. */
export function Page({
  title,
  subtitle,
  actions,
  children,
}: {
  title: string;
  subtitle?: ComponentChildren;
  actions?: ComponentChildren;
  children?: ComponentChildren;
}): VNode {
  useEffect(() => {
    document.title = `${title} · toolherd`;
  }, [title]);
  return html`
    <div class="page-head">
      <div><h1 tabindex="-1" id="page-title">${title}</h1>${subtitle && html`<p class="subtitle">${subtitle}</p>`}</div>
      ${actions && html`<div class="actions">${actions}</div>`}
    </div>
    ${children}`;
}

/** A titled part of a page. */
export function Section({
  title,
  aside,
  children,
  class: className = '',
}: {
  title: string;
  aside?: ComponentChildren;
  children?: ComponentChildren;
  class?: string;
}): VNode {
  const id = `section-${title.toLowerCase().replaceAll(/\W+/g, '-')}`;
  return html`
    <section class="card ${className}" aria-labelledby=${id}>
      <header class="card-head"><h2 id=${id}>${title}</h2>${aside && html`<div class="aside">${aside}</div>`}</header>
      ${children}
    </section>`;
}

/** In place of a list that has nothing: why, and what to do. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }): VNode {
  return html`<div class="empty"><p class="empty-title">${title}</p>${children && html`<div>${children}</div>`}</div>`;
}

export function Loading({ what }: { what: string }): VNode {
  return html`<p class="loading" role="status">Reading ${what} …</p>`;
}

/** What happened, why, and what helps. */
export function ErrorBox({ error, title }: { error: FleetError; title?: string }): VNode {
  return html`
    <div class="error-box" role="alert">
      <p class="error-what">${title ?? error.message}</p>
      ${title && html`<p>${error.message}</p>`}
      ${error.why && html`<p class="pre">${error.why}</p>`}
      ${error.problems.map(
        ({ message, file, line, fix }) =>
          html`<p><code>${file}:${line}</code> ${message}${fix && html`<br />Fix: ${fix}`}</p>`,
      )}
      ${error.fix && html`<p><strong>Fix:</strong> ${error.fix}</p>`}
    </div>`;
}

/** Copies a text, and says so for two seconds. */
export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }): VNode {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = () => void navigator.clipboard.writeText(text).then(() => setCopied(true));
  return html`<button type="button" class="small quiet" onClick=${copy} aria-live="polite">${isCopied ? 'Copied' : label}</button>`;
}

/** A text of a program, as it is. */
export function Code({ text, label }: { text: string; label?: string }): VNode {
  return html`
    <div class="code">
      <pre tabindex="0" role="region" aria-label=${label ?? 'Text'}>${text}</pre>
      <${CopyButton} text=${text} />
    </div>`;
}

export function JsonView({ value, label = 'JSON' }: { value: unknown; label?: string }): VNode {
  return html`<${Code} text=${JSON.stringify(value, null, 2) ?? 'undefined'} label=${label} />`;
}
