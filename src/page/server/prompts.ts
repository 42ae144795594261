import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { PromptEntry, PromptList } from '../../fleet/fleet.js';
import { FleetError } from '../live/fleet-error.js';
import { request } from '../live/store.js';
import { useRequest } from '../live/use-request.js';
import { AsOf, Empty, ErrorBox, Loading, Section } from '../parts/basics.js';
import { Button } from '../parts/button.js';
import { plural } from '../text/format.js';
import { type Draft, draftOf, read } from './form/draft.js';
import { formOf } from './form/fields.js';
import { FormFields } from './form/form.js';
import { Parts } from './result.js';
import { type Part, viewContents } from './result-view.js';
import { Missing } from './tools.js';
import { useRefresh } from './use-refresh.js';

/** The prompts of a server, each with its arguments and what it makes of them. */
export function Prompts({ server, revision }: { server: string; revision: string }): VNode {
  const { fetched, error, refresh } = useRequest<PromptList>('fleet/prompts', { server });
  useRefresh({ server, list: 'prompts', revision }, refresh);
  if (fetched === null)
    return error === null ? html`<${Loading} what="the prompts" />` : html`<${ErrorBox} error=${error} />`;
  const { prompts, missing } = fetched.value;
  return html`
    <${Missing} missing=${missing} />
    <${Section} title=${plural(prompts.length, 'prompt')} aside=${html`<${AsOf} at=${fetched.at} />`}>
      ${prompts.length === 0 && html`<${Empty} title="It offers no prompts." />`}
      <ul class="entries">
        ${prompts.map(
          (prompt) => html`<li key=${prompt.name}><details class="entry-details">
          <summary><span class="entry-name mono">${prompt.name}</span> <span class="entry-about">${prompt.description}</span></summary>
          <${TryPrompt} prompt=${prompt} />
        </details></li>`,
        )}
      </ul>
    <//>`;
}

/** Arguments of prompts are texts. */
function schemaOf({ arguments: list }: PromptEntry): object {
  const named = list.flatMap((one) => {
    const { name, description, required } = (one ?? {}) as Record<string, unknown>;
    return typeof name === 'string' ? [{ name, description, required: required === true }] : [];
  });
  return {
    type: 'object',
    properties: Object.fromEntries(
      named.map(({ name, description }) => [name, { type: 'string', description }]),
    ),
    required: named.filter(({ required }) => required).map(({ name }) => name),
  };
}

function TryPrompt({ prompt }: { prompt: PromptEntry }): VNode {
  const form = formOf(schemaOf(prompt));
  const draft = useSignal<Draft>(draftOf(form));
  const errors = useSignal<ReadonlyMap<string, string>>(new Map());
  const parts = useSignal<readonly Part[] | null>(null);
  const error = useSignal<FleetError | null>(null);
  const run = async () => {
    const reading = read(form, draft.value, '');
    errors.value = reading.errors;
    if (reading.errors.size > 0) return;
    try {
      const params = { server: prompt.server, name: prompt.name, arguments: reading.value };
      parts.value = viewContents(await request<Record<string, unknown>>('fleet/prompt', params));
      error.value = null;
    } catch (thrown) {
      error.value = FleetError.of(thrown);
      parts.value = null;
    }
  };
  return html`
    <div class="try">
      <${FormFields} field=${form} draft=${draft.value} path="" errors=${errors.value}
        onChange=${(next: Draft) => (draft.value = next)} />
      <div class="actions"><${Button} tone="primary" label=${`Get the prompt ${prompt.name}`} onClick=${run}>Get<//></div>
      ${error.value && html`<${ErrorBox} error=${error.value} />`}
      ${parts.value && html`<${Parts} parts=${parts.value} />`}
    </div>`;
}
