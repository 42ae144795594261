import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { FleetError } from '../live/fleet-error.js';
import { isLive, request } from '../live/store.js';
import { Empty, ErrorBox, Page, Pill, Section } from '../parts/basics.js';
import { Button } from '../parts/button.js';
import { go, route } from '../parts/route.js';
import { dateAndTime, plural } from '../text/format.js';
import { RegistryDetail } from './registry-detail.js';

/** What `toolherd search --json` prints of a server. */
interface Summary {
  name: string;
  title: string | null;
  description: string;
  version: string;
  status: string;
  by: readonly string[];
}

interface SearchAnswer {
  servers: readonly Summary[];
  next_cursor: string | null;
  skipped: readonly string[];
  cached_at: string | null;
  notes?: readonly string[];
}

interface Found extends SearchAnswer {
  query: string;
  at: number;
}

/** Search the registry, look at a server, add it to the global config. */
export function RegistryPage(): VNode {
  const { query } = route.value;
  const searched = query.get('q');
  const shown = query.get('show');
  const text = useSignal(searched ?? '');
  const found = useSignal<Found | null>(null);
  const error = useSignal<FleetError | null>(null);
  const isBusy = useSignal(false);
  const live = isLive.value;
  const search = async (wanted: string, cursor?: string) => {
    isBusy.value = true;
    try {
      const params = { ...(wanted && { query: wanted }), ...(cursor && { cursor }) };
      const answer = await request<SearchAnswer>('page/registry_search', params);
      const before = cursor === undefined ? [] : (found.value?.servers ?? []);
      found.value = { ...answer, servers: [...before, ...answer.servers], query: wanted, at: Date.now() };
      error.value = null;
    } catch (thrown) {
      error.value = FleetError.of(thrown);
    } finally {
      isBusy.value = false;
    }
  };
  useEffect(() => {
    if (searched !== null && live && found.peek()?.query !== searched) void search(searched);
  }, [searched, live]);
  const submit = (event: Event) => {
    event.preventDefault();
    if (searched === text.value) void search(text.value);
    else go(`#/registry?${new URLSearchParams({ q: text.value })}`);
  };
  const show = (name: string | undefined) =>
    go(
      `#/registry?${new URLSearchParams({ q: searched ?? '', ...(name && { show: name }) })}`,
      shown !== null,
    );
  return html`
    <${Page} title="Registry" subtitle="Servers that others have published. toolherd does not check what they do.">
      <form class="registry-search" role="search" onSubmit=${submit}>
        <input type="search" aria-label="Search the registry" placeholder="Part of a name, such as filesystem" value=${text.value}
          spellcheck="false" onInput=${(event: Event) => (text.value = (event.currentTarget as HTMLInputElement).value)} />
        <button type="submit" class="primary" disabled=${isBusy.value || !live}>${isBusy.value ? 'Searching …' : 'Search'}</button>
      </form>
      ${error.value && html`<${ErrorBox} error=${error.value} />`}
      ${
        found.value === null &&
        error.value === null &&
        !isBusy.value &&
        html`
        <${Empty} title="Search for a server to add.">
          <p>An empty search shows all. In a terminal: <code>toolherd search</code></p>
        <//>`
      }
      ${
        found.value &&
        html`
        ${(found.value.notes ?? []).map((note) => html`<p class="note-box warn" key=${note} role="status">${note}</p>`)}
        ${(found.value.skipped ?? []).map((problem) => html`<p class="note-box warn" key=${problem}>Skipped an invalid entry: ${problem}</p>`)}
        <div class=${`split ${shown === null ? '' : 'has-chosen'}`}>
          <${Results} found=${found.value} shown=${shown} onShow=${show} onMore=${(cursor: string) => search(found.value!.query, cursor)} />
          ${
            shown === null
              ? html`<div class="split-detail card"><${Empty} title="Choose a server to see what it runs and needs." /></div>`
              : html`<${RegistryDetail} key=${shown} name=${shown} onClose=${() => show(undefined)} />`
          }
        </div>`
      }
    <//>`;
}

interface ResultsProps {
  found: Found;
  shown: string | null;
  onShow(name: string): void;
  onMore(cursor: string): Promise<void>;
}

function Results({ found, shown, onShow, onMore }: ResultsProps): VNode {
  const { servers, next_cursor, cached_at } = found;
  const aside =
    cached_at === null ? undefined : html`<span>as of ${dateAndTime(Date.parse(cached_at))}</span>`;
  return html`
    <${Section} title=${plural(servers.length, 'server')} aside=${aside} class="split-list">
      ${servers.length === 0 && html`<${Empty} title="Nothing found." />`}
      <ul class="entries">
        ${servers.map(
          ({ name, version, description, status, by }) => html`
            <li key=${`${name}@${version}`}>
              <button type="button" class="entry" aria-current=${name === shown ? 'true' : undefined} onClick=${() => onShow(name)}>
                <span class="entry-name">${name}</span> <span class="muted">${version}</span>
                ${status !== 'active' && html` <${Pill} tone="warn">${status}<//>`}
                <span class="entry-about">${by.length > 0 ? `${by.join(', ')}: ` : ''}${description}</span>
              </button>
            </li>`,
        )}
      </ul>
      ${next_cursor !== null && html`<p class="log-foot"><${Button} size="small" onClick=${() => onMore(next_cursor)}>Show more<//></p>`}
    <//>`;
}
