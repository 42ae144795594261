import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { MissingList, ToolEntry, ToolList } from '../../fleet/fleet.js';
import { useRequest } from '../live/use-request.js';
import { AsOf, Empty, ErrorBox, JsonView, Loading, Pill, Section } from '../parts/basics.js';
import { Button } from '../parts/button.js';
import { Glyph } from '../parts/glyph.js';
import { FilterBox } from '../parts/inputs.js';
import { go, href, route } from '../parts/route.js';
import { plural } from '../text/format.js';
import { matches } from '../text/sort.js';
import { TryTool } from './try-tool.js';
import { useRefresh } from './use-refresh.js';

/** The tools of a server: a list, and beside it the chosen one with its schema and a form. */
export function Tools({ server, revision }: { server: string; revision: string }): VNode {
  const { fetched, error, refresh } = useRequest<ToolList>('fleet/tools', { server });
  useRefresh({ server, list: 'tools', revision }, refresh);
  const filter = useSignal('');
  if (fetched === null)
    return error === null ? html`<${Loading} what="the tools" />` : html`<${ErrorBox} error=${error} />`;
  const { tools, missing } = fetched.value;
  const shown = tools.filter(({ name, title, description }) =>
    matches(filter.value, [name, textOf(title), description]),
  );
  const chosen = tools.find(({ name }) => name === route.value.query.get('tool'));
  const choose = (tool: string) => go(href('server', [server], { tab: 'tools', tool }), chosen !== undefined);
  const aside = html`<${AsOf} at=${fetched.at} />`;
  return html`
    <${Missing} missing=${missing} />
    ${error && html`<${ErrorBox} error=${error} />`}
    <div class=${`split ${chosen === undefined ? '' : 'has-chosen'}`}>
      <${Section} title=${plural(tools.length, 'tool')} aside=${aside} class="split-list">
        <div class="list-filter"><${FilterBox} label="Filter tools" value=${filter.value}
          onChange=${(text: string) => (filter.value = text)} /></div>
        ${tools.length === 0 && html`<${Empty} title="It offers no tools." />`}
        ${tools.length > 0 && shown.length === 0 && html`<${Empty} title="No tool fits this filter." />`}
        <ul class="entries">
          ${shown.map(
            (tool) => html`
              <li key=${tool.name}>
                <button type="button" class="entry" aria-current=${tool === chosen ? 'true' : undefined}
                  onClick=${() => choose(tool.name)}>
                  <span class="entry-name mono">${tool.name}</span>
                  ${tool.blocked && html` <${Pill} tone="bad">blocked<//>`}
                  <span class="entry-about">${firstLine(tool.description)}</span>
                </button>
              </li>`,
          )}
        </ul>
      <//>
      ${
        chosen === undefined
          ? html`<div class="split-detail card"><${Empty} title="Choose a tool to see its schema and to try it." /></div>`
          : html`<${ToolDetail} key=${chosen.name} tool=${chosen} onClose=${() => go(href('server', [server], { tab: 'tools' }))} />`
      }
    </div>`;
}

function ToolDetail({ tool, onClose }: { tool: ToolEntry; onClose(): void }): VNode {
  const {
    server: _,
    name,
    exposed_name,
    description,
    input_schema,
    problem,
    blocked,
    cached,
    ...more
  } = tool;
  const title = textOf(more.title);
  const hints = hintsOf(more.annotations);
  const output = more.outputSchema;
  return html`
    <${Section} title=${name} class="split-detail" aside=${html`<${Button} isLocal tone="quiet" size="small" label="Close the tool"
      onClick=${onClose}><${Glyph} shape="close" /><//>`}>
      <div class="card-body tool">
        ${title && title !== name && html`<p><strong>${title}</strong></p>`}
        ${description && html`<p class="pre about">${description}</p>`}
        <p class="tool-facts muted">Agents call it <code>${exposed_name}</code>${hints.length > 0 && html` · ${hints.join(' · ')}`}${
          cached === true && html` · known from an earlier daemon`
        }</p>
        ${problem && html`<p class="text-warn">${problem}</p>`}
        ${blocked && html`<p class="text-bad">${blocked}</p>`}
        <${TryTool} tool=${tool} />
        <details><summary>Input schema</summary><${JsonView} value=${input_schema} label="Input schema" /></details>
        ${output !== undefined && html`<details><summary>Output schema</summary><${JsonView} value=${output} label="Output schema" /></details>`}
      </div>
    <//>`;
}

/** What a tool says of itself. toolherd does not check it. */
function hintsOf(annotations: unknown): string[] {
  const given = (annotations ?? {}) as Record<string, unknown>;
  return [
    given.readOnlyHint === true ? 'says it only reads' : '',
    given.destructiveHint === true && given.readOnlyHint !== true ? 'says it may destroy' : '',
    given.idempotentHint === true ? 'says it may be repeated' : '',
    given.openWorldHint === true ? 'says it reaches the outside' : '',
  ].filter(Boolean);
}

/** Which lists are not complete, and why. */
export function Missing({ missing }: { missing: readonly MissingList[] }): VNode[] {
  return missing.map(
    ({ list, reason }) =>
      html`<p class="note-box warn" key=${list} role="status">Its ${list} are not known, or are outdated: ${reason}</p>`,
  );
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

export function firstLine(text: string | null): string {
  return (text ?? '').split('\n').find((line) => line.trim() !== '') ?? '';
}
