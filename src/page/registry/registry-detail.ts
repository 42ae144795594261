import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { shellWord } from '../../shared/text/shell-word.js';
import { useRequest } from '../live/use-request.js';
import { ErrorBox, Loading, Pill, Section } from '../parts/basics.js';
import { Button } from '../parts/button.js';
import { Glyph } from '../parts/glyph.js';
import { AddForm } from './add-form.js';

/** What a server needs: a variable. */
export interface Need {
  name: string;
  description: string | null;
  secret: boolean;
  required: boolean;
}

/** One way to run or reach a server. */
export interface Way {
  by: string;
  server: string;
  refused?: string;
  transport?: string;
  command?: string;
  args?: readonly string[];
  url?: string;
  headers?: Readonly<Record<string, string>>;
  needs?: readonly Need[];
}

/** The answer of `page/registry_show`. */
interface ShowAnswer {
  server: {
    name: string;
    title: string | null;
    description: string;
    version: string;
    status: string;
    published_at: string | null;
    updated_at: string | null;
    repository: string | null;
    website: string | null;
    ways: readonly Way[];
  };
  cached_at: string | null;
  notes?: readonly string[];
}

export function RegistryDetail({ name, onClose }: { name: string; onClose(): void }): VNode {
  const { fetched, error } = useRequest<ShowAnswer>('page/registry_show', { name });
  const isAdding = useSignal(false);
  const close = html`<${Button} isLocal tone="quiet" size="small" label="Close the server" onClick=${onClose}><${Glyph} shape="close" /><//>`;
  return html`
    <${Section} title=${name} class="split-detail" aside=${close}>
      <div class="card-body tool">
        ${error && html`<${ErrorBox} error=${error} />`}
        ${fetched === null && error === null && html`<${Loading} what="the registry" />`}
        ${
          fetched &&
          html`<${About} answer=${fetched.value} />
          ${
            canAdd(fetched.value) &&
            (isAdding.value
              ? html`<${AddForm} name=${name} ways=${fetched.value.server.ways} onCancel=${() => (isAdding.value = false)} />`
              : html`<div class="actions"><${Button} tone="primary" label=${`Add ${name}`} onClick=${() => (isAdding.value = true)}>Add …<//></div>`)
          }`
        }
      </div>
    <//>`;
}

function canAdd({ server }: ShowAnswer): boolean {
  return server.status !== 'deleted' && server.ways.some(({ refused }) => refused === undefined);
}

function About({ answer }: { answer: ShowAnswer }): VNode {
  const { server, notes = [] } = answer;
  const rows: [string, string | null][] = [
    ['version', server.version],
    ['published', server.published_at],
    ['updated', server.updated_at],
    ['repository', server.repository],
    ['website', server.website],
  ];
  return html`
    ${notes.map((note) => html`<p class="note-box warn" key=${note}>${note}</p>`)}
    ${server.title && html`<p><strong>${server.title}</strong></p>`}
    ${server.description && html`<p class="pre about">${server.description}</p>`}
    ${server.status !== 'active' && html`<p><${Pill} tone="warn">${server.status}<//></p>`}
    <dl class="spec">
      ${rows.map(([label, value]) => value !== null && html`<div key=${label}><dt>${label}</dt><dd>${value}</dd></div>`)}
    </dl>
    ${server.ways.map((way, index) => html`<${WayView} key=${index} way=${way} />`)}`;
}

/** In the words of `toolherd show`. */
function WayView({ way }: { way: Way }): VNode {
  const { by, server, refused, command, args = [], url, headers = {}, needs = [] } = way;
  const runs = [command ?? '', ...args].map(shellWord).join(' ');
  return html`
    <section class="way" aria-label=${`${by} ${server}`}>
      <h3><${Pill} tone=${refused === undefined ? 'busy' : 'calm'}>${by}<//> <code>${server}</code></h3>
      <dl class="answers">
        ${refused !== undefined && html`<dt>refused</dt><dd>${refused}</dd>`}
        ${
          refused === undefined &&
          (url === undefined
            ? html`<dt>runs</dt><dd><code>${runs}</code></dd>`
            : html`<dt>connects to</dt><dd><code>${url}</code></dd>`)
        }
        ${Object.entries(headers).map(([name, value]) => html`<dt>sends</dt><dd><code>${name}: ${value}</code></dd>`)}
        ${needs.map(
          (need) => html`<dt>${need.required ? 'needs' : 'may have'}</dt>
            <dd><code>${need.name}</code>${need.secret && ' (secret)'}${need.description && `: ${need.description}`}</dd>`,
        )}
      </dl>
    </section>`;
}
