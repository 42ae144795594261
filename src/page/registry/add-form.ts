import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { FleetError } from '../live/fleet-error.js';
import { refreshSoon, request } from '../live/store.js';
import { Code, ErrorBox } from '../parts/basics.js';
import { Button } from '../parts/button.js';
import { href } from '../parts/route.js';
import { say } from '../parts/toast.js';
import type { Way } from './registry-detail.js';

/** The answer of `page/add`. */
interface AddAnswer {
  name: string;
  file: string;
  diff: string;
  needs: readonly {
    name: string;
    required: boolean;
    secret: boolean;
    set: boolean;
    description: string | null;
  }[];
  warnings: readonly string[];
  notes?: readonly string[];
}

interface AddFormProps {
  name: string;
  ways: readonly Way[];
  onCancel(): void;
}

/** First shows what would be written; a second click writes it. */
export function AddForm({ name, ways, onCancel }: AddFormProps): VNode {
  const usable = ways.filter(({ refused }) => refused === undefined);
  const transports = [...new Set(usable.flatMap(({ transport }) => transport ?? []))];
  const transport = useSignal(transports[0] ?? '');
  const shortName = useSignal('');
  const values = useSignal<Readonly<Record<string, string>>>({});
  const planned = useSignal<AddAnswer | null>(null);
  const added = useSignal<AddAnswer | null>(null);
  const error = useSignal<FleetError | null>(null);
  const needs = usable.find((way) => way.transport === transport.value)?.needs ?? [];
  const send = async (dryRun: boolean) => {
    const env = Object.entries(values.value).flatMap(([key, value]) =>
      value === '' ? [] : [`${key}=${value}`],
    );
    try {
      const answer = await request<AddAnswer>('page/add', {
        name,
        dry_run: dryRun,
        ...(transport.value !== '' && { transport: transport.value }),
        ...(shortName.value !== '' && { short_name: shortName.value }),
        ...(env.length > 0 && { env }),
      });
      error.value = null;
      if (dryRun) planned.value = answer;
      else {
        added.value = answer;
        say(`added: ${answer.name} to ${answer.file}`);
        refreshSoon();
      }
    } catch (thrown) {
      error.value = FleetError.of(thrown);
    }
  };
  const change = (run: () => void) => {
    run();
    planned.value = null;
  };
  if (added.value !== null) return html`<${Added} answer=${added.value} />`;
  return html`
    <section class="try" aria-label=${`Add ${name}`}>
      <div class="try-head"><h3>Add it to the global config</h3></div>
      <div class="fields">
      ${
        transports.length > 1 &&
        html`
        <label class="field"><span>Transport</span>
          <select value=${transport.value} onChange=${(event: Event) => change(() => (transport.value = inputOf(event)))}>
            ${transports.map((one) => html`<option value=${one} selected=${one === transport.value}>${one}</option>`)}
          </select></label>`
      }
      <label class="field"><span>Another short name</span>
        <input type="text" value=${shortName.value} placeholder="the last part of its name" spellcheck="false"
          onInput=${(event: Event) => change(() => (shortName.value = inputOf(event)))} /></label>
      ${needs.map(
        (need) => html`
          <label class="field" key=${need.name}><span><code>${need.name}</code>${need.required && html`<span class="mark-required"> required</span>`}</span>
            <input type=${need.secret ? 'password' : 'text'} autocomplete="off" spellcheck="false" value=${values.value[need.name] ?? ''}
              placeholder=${`\${${need.name}}: from the environment of the daemon`}
              onInput=${(event: Event) => change(() => (values.value = { ...values.value, [need.name]: inputOf(event) }))} />
            ${need.description && html`<span class="hint">${need.description}</span>`}
            ${
              need.secret &&
              html`<span class="hint">A value that you write here is stored in the file in the clear. Leave it empty to
              take it from the environment.</span>`
            }</label>`,
      )}
      </div>
      ${error.value && html`<${ErrorBox} error=${error.value} />`}
      ${planned.value && html`<${Planned} answer=${planned.value} />`}
      <div class="actions">
        ${
          planned.value === null
            ? html`<${Button} tone="primary" onClick=${() => send(true)}>Show the change<//>`
            : html`<${Button} tone="primary" label=${`Add it: ${name}`} onClick=${() => send(false)}>Add it<//>`
        }
        <${Button} isLocal tone="quiet" onClick=${onCancel}>Cancel<//>
      </div>
    </section>`;
}

const inputOf = (event: Event): string => (event.currentTarget as HTMLInputElement).value;

function Planned({ answer }: { answer: AddAnswer }): VNode {
  return html`
    <p>This would be written to <code>${answer.file}</code>:</p>
    <${Code} text=${answer.diff} label="The change" />
    <${Remarks} answer=${answer} />`;
}

function Remarks({ answer: { needs, warnings, notes = [] } }: { answer: AddAnswer }): VNode {
  const unset = needs.filter(({ required, set }) => required && !set);
  return html`
    ${warnings.map((text) => html`<p class="note-box warn" key=${text}>${text}</p>`)}
    ${notes.map((text) => html`<p class="note-box warn" key=${text}>${text}</p>`)}
    ${
      unset.length > 0 &&
      html`
      <p class="note-box warn">It needs these variables, which are not set: ${unset.map(({ name }) => name).join(', ')}. Set them where
        the daemon is started, then run <code>toolherd up --replace</code>. Until then this server does not run.</p>`
    }`;
}

function Added({ answer }: { answer: AddAnswer }): VNode {
  return html`
    <section class="try" role="status">
      <p><strong>Added ${answer.name}</strong> to <code>${answer.file}</code>.</p>
      <${Remarks} answer=${answer} />
      <p><a href=${href('server', [answer.name])}>Go to ${answer.name}</a></p>
    </section>`;
}
