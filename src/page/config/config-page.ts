import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { ConfigProblem, ReloadReport } from '../../fleet/fleet.js';
import type { ConfigDescription } from '../../fleet/ui.js';
import { refreshSoon, request, status } from '../live/store.js';
import { type Fetched, useRequest } from '../live/use-request.js';
import { AsOf, CopyButton, Empty, ErrorBox, Loading, Page, Pill, Section } from '../parts/basics.js';
import { Button } from '../parts/button.js';
import { href } from '../parts/route.js';
import { Table } from '../parts/table.js';
import { act } from '../parts/toast.js';
import { plural, shortPath } from '../text/format.js';
import { TrustSection } from './trust.js';

/** The page reads the files again this often: an editor may have changed them. */
const EVERY_MS = 4000;

export function ConfigPage(): VNode {
  const config = useRequest<ConfigDescription>('page/config', {}, { everyMs: EVERY_MS });
  const { fetched, error, refresh } = config;
  const actions = html`<${Button} onClick=${() => reload(refresh)}>Reload<//>`;
  const subtitle = fetched && html`<code>${fetched.value.file}</code> <${AsOf} at=${fetched.at} />`;
  return html`
    <${Page} title="Config" subtitle=${subtitle} actions=${actions}>
      ${error && html`<${ErrorBox} error=${error} />`}
      ${fetched === null && error === null && html`<${Loading} what="the config" />`}
      ${fetched && html`<${Sections} config=${config} />`}
    <//>`;
}

function Sections({ config }: { config: Fetched<ConfigDescription> }): VNode {
  const { problems, warnings, config_error, plan, entries, trust } = config.fetched!.value;
  return html`
    <${Problems} problems=${problems} warnings=${warnings} configError=${config_error} />
    <${Plan} plan=${plan} onReload=${() => reload(config.refresh)} />
    <${TrustSection} files=${trust} refresh=${config.refresh} />
    <${Entries} entries=${entries} />`;
}

async function reload(refresh: () => void): Promise<void> {
  await act('Reload', () => request<ReloadReport>('page/reload'), describe);
  refreshSoon();
  refresh();
}

/** What a reload did. */
function describe({ added, removed, changed, unchanged }: ReloadReport): string {
  const parts = [
    added.length > 0 ? `added: ${added.join(', ')}` : '',
    removed.length > 0 ? `removed: ${removed.join(', ')}` : '',
    changed.length > 0 ? `changed: ${changed.join(', ')}` : '',
  ].filter(Boolean);
  return parts.length === 0
    ? `nothing changed; ${plural(unchanged.length, 'server')} as before`
    : parts.join('; ');
}

interface ProblemsProps {
  problems: readonly ConfigProblem[];
  warnings: readonly ConfigProblem[];
  configError: string | null;
}

function Problems({ problems, warnings, configError }: ProblemsProps): VNode {
  const isFine = problems.length + warnings.length === 0 && configError === null;
  const counts = [
    problems.length > 0 ? plural(problems.length, 'problem') : '',
    warnings.length > 0 ? plural(warnings.length, 'warning') : '',
  ];
  return html`
    <${Section} title="Problems" aside=${counts.filter(Boolean).join(', ') || 'none'}>
      <div class="card-body problems">
        ${isFine && html`<p><${Pill} tone="good">ok<//> The files can be read, and every entry can be resolved.</p>`}
        ${
          configError !== null &&
          html`
          <div class="error-box"><p class="error-what">The last change was not applied: the herd runs with the config before it.</p>
            <p class="pre">${configError}</p></div>`
        }
        ${problems.map((problem) => html`<${Problem} key=${placeOf(problem)} problem=${problem} tone="bad" />`)}
        ${warnings.map((problem) => html`<${Problem} key=${placeOf(problem)} problem=${problem} tone="warn" />`)}
      </div>
    <//>`;
}

function placeOf({ file, line, column, message }: ConfigProblem): string {
  return `${file}:${line}:${column} ${message}`;
}

function Problem({ problem, tone }: { problem: ConfigProblem; tone: 'bad' | 'warn' }): VNode {
  const { type, message, why, fix, file, line, column, path } = problem;
  const place = `${file}:${line}:${column}`;
  return html`
    <article class=${`problem ${tone}`}>
      <p class="problem-what"><${Pill} tone=${tone}>${tone === 'bad' ? type : 'warning'}<//> <strong>${message}</strong></p>
      <p class="problem-place"><code>${place}</code><${CopyButton} text=${place} label="Copy the place" />${
        path && html`<span class="muted">${path}</span>`
      }</p>
      ${why && html`<p class="pre">${why}</p>`}
      <p><span class="muted">Fix:</span> ${fix}</p>
    </article>`;
}

function Plan({ plan, onReload }: { plan: ReloadReport | null; onReload(): Promise<void> }): VNode {
  const changes = plan === null ? [] : [...plan.added, ...plan.removed, ...plan.changed];
  const aside =
    changes.length > 0 && html`<${Button} size="small" tone="primary" onClick=${onReload}>Apply it now<//>`;
  return html`
    <${Section} title="What a reload would change" aside=${aside}>
      <div class="card-body">
        ${plan === null && html`<p>Nothing, while the files have the problems above.</p>`}
        ${
          plan !== null &&
          changes.length === 0 &&
          html`
          <p>Nothing: the herd runs what the files say (${plural(plan.unchanged.length, 'server')}). toolherd reads them when they
            change.</p>`
        }
        ${
          plan !== null &&
          changes.length > 0 &&
          html`
          <ul class="plan">
            ${plan.added.map((name) => html`<li key=${name}><${Pill} tone="good">added<//> ${name}</li>`)}
            ${plan.changed.map((name) => html`<li key=${name}><${Pill} tone="busy">changed<//> ${name}, which restarts if it runs</li>`)}
            ${plan.removed.map((name) => html`<li key=${name}><${Pill} tone="bad">removed<//> ${name}, which is stopped</li>`)}
          </ul>`
        }
      </div>
    <//>`;
}

type Entry = ConfigDescription['entries'][number];

function Entries({ entries }: { entries: readonly Entry[] }): VNode {
  // the servers of a file that is not allowed have no page
  const known = new Set(status.value?.value.servers.map(({ name }) => name));
  const columns = [
    {
      id: 'server',
      title: 'Server',
      isHeading: true,
      sort: ({ server }: Entry) => server,
      cell: ({ server }: Entry) =>
        known.has(server) ? html`<a href=${href('server', [server], { tab: 'spec' })}>${server}</a>` : server,
    },
    {
      id: 'place',
      title: 'Where',
      sort: ({ file, line }: Entry) => `${file}:${String(line).padStart(6, '0')}`,
      cell: ({ file, line }: Entry) => html`<code title=${file}>${shortPath(file, 60)}:${line}</code>`,
    },
  ];
  return html`
    <${Section} title="Entries" aside=${plural(entries.length, 'entry', 'entries')}>
      ${
        entries.length === 0
          ? html`<${Empty} title="No servers are configured."><a href=${href('registry')}>Add one from the registry</a><//>`
          : html`<${Table} caption="Entries of the config files" columns=${columns} rows=${entries}
            keyOf=${({ server, file }: Entry) => `${file} ${server}`} />`
      }
    <//>`;
}
