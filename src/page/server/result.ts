import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { escapeInvisible } from '../../shared/text/control-characters.js';
import { Code, Pill } from '../parts/basics.js';
import { confirm } from '../parts/dialog.js';
import { memory, milliseconds } from '../text/format.js';
import type { Tone } from '../text/server-state.js';
import type { Part, ResultView } from './result-view.js';

const OUTCOMES: Readonly<Record<ResultView['outcome'], readonly [Tone, string]>> = {
  ok: ['good', 'ok'],
  'tool error': ['bad', 'the tool reports an error'],
  failed: ['bad', 'failed'],
};

/** The result of a call, by kind. */
export function Result({ view, at }: { view: ResultView; at: VNode }): VNode {
  const [tone, word] = OUTCOMES[view.outcome];
  const { error } = view;
  return html`
    <section class="result" aria-label="Result">
      <p class="result-head"><${Pill} tone=${tone}>${word}<//> <span class="muted">after ${milliseconds(view.durationMs)}, ${at}</span></p>
      ${
        error &&
        html`
        <div class="error-box" role="alert">
          <p class="error-what">${error.type}: ${error.message}</p>
          ${error.why && html`<p class="pre">${error.why}</p>`}
          ${error.fix && html`<p><strong>Fix:</strong> ${error.fix}</p>`}
          <p>${error.sent ? 'The request was sent: the tool may have run.' : 'The request was not sent: the tool did not run.'}</p>
        </div>`
      }
      ${view.parts.length === 0 && error === null && html`<p class="muted">The result is empty.</p>`}
      <${Parts} parts=${view.parts} />
      ${view.structured !== null && html`<h3>Structured content</h3><${LongText} text=${view.structured} label="Structured content" />`}
      ${view.cut !== null && html`<p class="muted">${view.cut}.</p>`}
    </section>`;
}

export function Parts({ parts }: { parts: readonly Part[] }): VNode {
  return html`<div class="parts">${parts.map((part, index) => html`<${PartView} key=${index} part=${part} number=${index + 1} />`)}</div>`;
}

/** `number`: tells several of one kind apart. */
function PartView({ part, number }: { part: Part; number: number }): VNode {
  switch (part.kind) {
    case 'text':
      return html`<${LongText} text=${part.text} label=${`Text ${number}`} />`;
    case 'json':
      return html`<${LongText} text=${part.text} label=${`JSON ${number}`} />`;
    case 'image':
      return html`<figure class="media"><img src=${part.src} alt=${`Image ${number} of the result`} />
        <figcaption class="muted">${part.type}, ${memory(part.bytes)}</figcaption></figure>`;
    case 'audio':
      return html`<figure class="media"><audio controls src=${part.src} aria-label=${`Sound ${number} of the result`}></audio>
        <figcaption class="muted">${part.type}, ${memory(part.bytes)}</figcaption></figure>`;
    case 'link':
      return html`<p class="part-link"><${ServerLink} uri=${part.uri} name=${part.name} isWeb=${part.isWeb} />
        ${part.type && html` <span class="muted">${part.type}</span>`}</p>`;
    case 'resource':
      return html`
        <div class="part-resource">
          <p><code>${part.uri || 'a resource without an address'}</code> <span class="muted">${`${part.type ?? 'unknown type'}, ${memory(part.bytes)}`}</span></p>
          ${part.shown && html`<${PartView} part=${part.shown} number=${number} />`}
        </div>`;
    case 'other':
      return html`<div><p class="muted">${part.type || 'unknown'}: ${part.reason}.</p>
        ${part.text && html`<${LongText} text=${part.text} label=${`JSON ${number}`} />`}</div>`;
  }
}

/** An address of a server. It is opened only after a person has read it. */
function ServerLink({ uri, name, isWeb }: { uri: string; name: string; isWeb: boolean }): VNode {
  if (!isWeb) return html`<span>${name}${name !== uri && html` <code>${uri}</code>`}</span>`;
  const visit = async (event: Event) => {
    event.preventDefault();
    const isYes = await confirm({
      title: 'Leave this page?',
      body: html`<p>The server gave this address:</p><p class="mono">${escapeInvisible(uri)}</p>`,
      action: 'Open',
    });
    if (isYes) open(uri, '_blank', 'noopener,noreferrer');
  };
  return html`<a href=${uri} rel="noreferrer noopener" target="_blank" onClick=${visit}>${name}</a> <code>${uri}</code>`;
}

const SHORT = 20_000;

/** A long text is cut, so that the page stays quick; one click shows all of it. */
function LongText({ text, label }: { text: string; label: string }): VNode {
  const isWhole = useSignal(false);
  const isLong = text.length > SHORT && !isWhole.value;
  return html`
    <${Code} text=${isLong ? text.slice(0, SHORT) : text} label=${label} />
    ${
      isLong &&
      html`<button type="button" class="small" onClick=${() => (isWhole.value = true)}>
      Show all ${text.length.toLocaleString('en')} characters</button>`
    }`;
}
