import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { Inspection, OutdatedReport, PackageStatus, UpdateReport } from '../../fleet/fleet.js';
import { updateSentence } from '../../fleet/texts/update-sentence.js';
import { runnerOf } from '../../fleet/texts/why.js';
import { FleetError } from '../live/fleet-error.js';
import { request } from '../live/store.js';
import { Code, CopyButton, ErrorBox, JsonView, Section } from '../parts/basics.js';
import { Button } from '../parts/button.js';
import { confirm } from '../parts/dialog.js';
import { act } from '../parts/toast.js';

/** What a reader looks for first. The rest follows in the order of the spec. */
const FIRST = [
  'description',
  'transport',
  'command',
  'args',
  'url',
  'headers',
  'env',
  'cwd',
  'lifecycle',
  'start',
  'restart',
];

/** How the server is configured: its spec, where it stands, and its package. */
export function Spec({ inspection }: { inspection: Inspection }): VNode {
  const { spec, status } = inspection;
  const { origin, name: _, ...fields } = spec;
  const { file, line } = (origin ?? {}) as { file?: string; line?: number };
  const where = file && `${file}:${line}`;
  const names = Object.keys(fields);
  const ordered = [
    ...FIRST.filter((name) => names.includes(name)),
    ...names.filter((name) => !FIRST.includes(name)),
  ];
  const aside = where && html`<code>${where}</code><${CopyButton} text=${where} label="Copy the place" />`;
  return html`
    ${status.runner !== undefined && html`<${Package} inspection=${inspection} />`}
    <${Section} title="Spec" aside=${aside}>
      <div class="card-body">
        <p class="muted">The entry as it was resolved, with its defaults. Secrets are hidden.</p>
        <dl class="spec columns">
          ${ordered.map((name) => html`<div key=${name}><dt><code>${name}</code></dt><dd><${SpecValue} name=${name} value=${fields[name]} /></dd></div>`)}
        </dl>
        <details><summary>As JSON</summary><${JsonView} value=${spec} label="Spec as JSON" /></details>
      </div>
    <//>`;
}

function SpecValue({ name, value }: { name: string; value: unknown }): VNode {
  if (value === null || value === undefined) return html`<span class="muted">–</span>`;
  if (typeof value !== 'object') return html`<code>${String(value)}</code>`;
  const isEmpty = Object.keys(value).length === 0;
  if (isEmpty) return html`<span class="muted">${Array.isArray(value) ? 'none' : 'nothing'}</span>`;
  if (Array.isArray(value) && value.every((one) => typeof one === 'string'))
    return html`<code>${value.map((one) => (/\s/.test(one) || one === '' ? JSON.stringify(one) : one)).join(' ')}</code>`;
  const text = JSON.stringify(value, null, 1).replaceAll(/\n\s*/g, ' ');
  return text.length < 90
    ? html`<code>${text}</code>`
    : html`<${Code} text=${JSON.stringify(value, null, 2)} label=${name} />`;
}

/** The package of an npx entry: what runs, and whether npm has a newer one. */
function Package({ inspection }: { inspection: Inspection }): VNode {
  const { server, status } = inspection;
  const found = useSignal<PackageStatus | null | undefined>(undefined);
  const error = useSignal<FleetError | null>(null);
  const check = async () => {
    try {
      const { packages } = await request<OutdatedReport>('fleet/outdated', { servers: [server] });
      found.value = packages[0] ?? null;
      error.value = null;
    } catch (thrown) {
      error.value = FleetError.of(thrown);
    }
  };
  const update = async () => {
    const isYes = await confirm({
      title: `Update ${server}?`,
      body: 'toolherd installs the newest version, and restarts the server if it has no call in flight.',
      action: 'Update',
    });
    if (!isYes) return;
    await act(
      `Updating ${server}`,
      () => request<UpdateReport>('fleet/update', { servers: [server] }),
      ({ packages }) =>
        packages.map(updateSentence).join('; ') || 'no server has a package that could be newer',
    );
    await check();
  };
  const aside = html`
    <${Button} size="small" onClick=${check} label=${`Ask npm for a newer version of ${server}`}>Ask npm for a newer version<//>
    ${found.value?.behind === true && html`<${Button} size="small" tone="primary" onClick=${update} label=${`Update ${server}`}>Update<//>`}`;
  return html`
    <${Section} title="Package" aside=${aside}>
      <div class="card-body">
        <p>How it runs: ${runnerOf(status)}.</p>
        ${status.package && html`<p class="muted">The entry asks for <code>${status.package.requested}</code>.</p>`}
        ${found.value === null && html`<p>It has no package that could be newer.</p>`}
        ${found.value && html`<${Versions} found=${found.value} />`}
        ${error.value && html`<${ErrorBox} error=${error.value} />`}
      </div>
    <//>`;
}

function Versions({ found }: { found: PackageStatus }): VNode {
  const { version, installed, latest, behind, update, problem } = found;
  return html`
    <dl class="spec">
      <div><dt>runs</dt><dd>${version ?? '–'}</dd></div>
      <div><dt>installed</dt><dd>${installed ?? '–'}</dd></div>
      <div><dt>latest</dt><dd>${latest ?? '–'}${behind ? '' : latest === null ? '' : ', nothing is behind'}</dd></div>
      <div><dt>update</dt><dd>${update}</dd></div>
    </dl>
    ${problem !== null && html`<p class="text-warn">${problem}</p>`}`;
}
