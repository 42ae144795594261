import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { ResourceEntry, ResourceLists, TemplateEntry } from '../../fleet/fleet.js';
import { FleetError } from '../live/fleet-error.js';
import { request } from '../live/store.js';
import { useRequest } from '../live/use-request.js';
import { AsOf, Empty, ErrorBox, Loading, Section } from '../parts/basics.js';
import { Button } from '../parts/button.js';
import { FilterBox } from '../parts/inputs.js';
import { plural } from '../text/format.js';
import { matches } from '../text/sort.js';
import { Parts } from './result.js';
import { type Part, viewContents } from './result-view.js';
import { Missing } from './tools.js';
import { useRefresh } from './use-refresh.js';

/** More would make the page slow; the filter finds the others. */
const SHOWN = 200;

/** The resources and templates of a server; each can be read. */
export function Resources({ server, revision }: { server: string; revision: string }): VNode {
  const { fetched, error, refresh } = useRequest<ResourceLists>('fleet/resources', { server });
  useRefresh({ server, list: 'resources', revision }, refresh);
  const filter = useSignal('');
  if (fetched === null)
    return error === null ? html`<${Loading} what="the resources" />` : html`<${ErrorBox} error=${error} />`;
  const { resources, templates, missing } = fetched.value;
  const found = resources.filter(({ name, uri, description }) =>
    matches(filter.value, [name, uri, description]),
  );
  const aside = html`<${AsOf} at=${fetched.at} /><${FilterBox} label="Filter resources" value=${filter.value}
    onChange=${(text: string) => (filter.value = text)} />`;
  return html`
    <${Missing} missing=${missing} />
    <${Section} title=${plural(resources.length, 'resource')} aside=${aside}>
      ${resources.length === 0 && html`<${Empty} title="It offers no resources." />`}
      ${resources.length > 0 && found.length === 0 && html`<${Empty} title="No resource fits this filter." />`}
      <ul class="entries">
        ${found.slice(0, SHOWN).map((one) => html`<${Resource} key=${one.uri} entry=${one} />`)}
      </ul>
      ${found.length > SHOWN && html`<p class="log-foot muted">${SHOWN} of ${found.length} are shown; filter for the others.</p>`}
    <//>
    ${
      templates.length > 0 &&
      html`
      <${Section} title=${plural(templates.length, 'template')}>
        <ul class="entries">${templates.map((one) => html`<${Template} key=${one.uri_template} entry=${one} />`)}</ul>
      <//>`
    }`;
}

function Resource({ entry }: { entry: ResourceEntry }): VNode {
  const { server, uri, name, description, mime_type } = entry;
  return html`
    <li><details class="entry-details">
      <summary><span class="entry-name mono">${uri}</span> <span class="entry-about">${[
        name === uri ? '' : name,
        description,
        mime_type,
      ]
        .filter(Boolean)
        .join(' · ')}</span></summary>
      <${ReadResource} server=${server} uri=${uri} />
    </details></li>`;
}

function Template({ entry }: { entry: TemplateEntry }): VNode {
  const { server, uri_template, name, description } = entry;
  const uri = useSignal(uri_template);
  return html`
    <li><details class="entry-details">
      <summary><span class="entry-name mono">${uri_template}</span> <span class="entry-about">${[
        name,
        description,
      ]
        .filter(Boolean)
        .join(' · ')}</span></summary>
      <div class="try">
        <label class="field"><span>Address, with the names in braces filled in</span>
          <input class="mono" type="text" value=${uri.value} spellcheck="false"
            onInput=${(event: Event) => (uri.value = (event.currentTarget as HTMLInputElement).value)} /></label>
      </div>
      <${ReadResource} server=${server} uri=${uri.value} />
    </details></li>`;
}

function ReadResource({ server, uri }: { server: string; uri: string }): VNode {
  const parts = useSignal<readonly Part[] | null>(null);
  const error = useSignal<FleetError | null>(null);
  const run = async () => {
    try {
      parts.value = viewContents(await request<Record<string, unknown>>('fleet/resource', { server, uri }));
      error.value = null;
    } catch (thrown) {
      error.value = FleetError.of(thrown);
      parts.value = null;
    }
  };
  return html`
    <div class="try">
      <div class="actions"><${Button} tone="primary" label=${`Read ${uri}`} onClick=${run}>Read<//></div>
      ${error.value && html`<${ErrorBox} error=${error.value} />`}
      ${parts.value && html`<${Parts} parts=${parts.value} />`}
    </div>`;
}
