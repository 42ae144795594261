import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { Inspection } from '../../fleet/fleet.js';
import { entryProblems, isInTrouble, listNotesOf, pinNoteOf } from '../../fleet/texts/server-notes.js';
import { adviceOf, fixesOf, nextOf, runnerOf } from '../../fleet/texts/why.js';
import { now } from '../live/store.js';
import { Ago, Section } from '../parts/basics.js';
import { count, memory, milliseconds } from '../text/format.js';
import { Charts } from './chart.js';
import { HistoryPlots } from './history-plots.js';
import { timelineOf } from './timeline.js';

const SHORT = 12;

export function Overview({ inspection }: { inspection: Inspection }): VNode {
  return html`
    <div class="overview">
      <${Facts} inspection=${inspection} />
      <div class="overview-columns">
        <${Why} inspection=${inspection} />
        <${Timeline} inspection=${inspection} />
      </div>
      <${Section} title="Statecharts" class="charts-card" aside="live"><${Charts} inspection=${inspection} /><//>
      <${HistoryPlots} server=${inspection.server} />
    </div>`;
}

function Facts({ inspection }: { inspection: Inspection }): VNode {
  const { status } = inspection;
  const info = status.server_info ?? {};
  const version = [info.name, info.version].filter((word) => typeof word === 'string').join(' ');
  const facts: [string, string | VNode, string?][] = [
    [
      'calls',
      count(status.calls),
      status.failures === 0 ? 'none failed' : `${count(status.failures)} failed`,
    ],
    ['in flight', String(status.in_flight)],
    ['p50', milliseconds(status.latency_ms.p50), `p99 ${milliseconds(status.latency_ms.p99)}`],
    ['restarts', String(status.restarts), 'since the daemon started'],
    ['memory', status.pids.length === 0 ? '–' : memory(status.rss_bytes), 'of its process group'],
    [
      status.pids.length > 1 ? 'pids' : 'pid',
      status.pids.join(', ') || '–',
      status.incarnation === 0 ? 'never started' : `run ${status.incarnation}`,
    ],
    ['MCP', status.protocol_version ?? '–', version],
  ];
  return html`
    <dl class="facts card">
      ${facts.map(
        ([name, value, note]) => html`
          <div key=${name}><dt>${name}</dt><dd>${value}</dd>${note && html`<dd class="fact-note">${note}</dd>`}</div>`,
      )}
    </dl>`;
}

/** What `toolherd why` says, beside what happened. */
function Why({ inspection }: { inspection: Inspection }): VNode {
  const { server, status } = inspection;
  const { last_error } = status;
  const problems = entryProblems(status);
  const isTroubled = isInTrouble(status);
  const missing = listNotesOf(status, now.value).map((note) => note.replace(`${server}: `, ''));
  return html`
    <${Section} title="Why" aside=${html`<span>as <code>toolherd why</code> says</span>`}>
      <div class="card-body why">
        ${
          isTroubled &&
          last_error !== null &&
          html`
          <div class="error-box">
            <p class="error-what">${last_error.message}</p>
            ${last_error.why && html`<p class="pre">${last_error.why}</p>`}
            <p class="muted"><${Ago} at=${last_error.at} /></p>
          </div>`
        }
        ${problems.map(
          ({ message, file, line, column, why }) => html`
            <div class="error-box"><p class="error-what">${message}</p><p><code>${file}:${line}:${column}</code>${why && html`; ${why}`}</p></div>`,
        )}
        <dl class="answers">
          ${status.runner !== undefined && html`<dt>How it runs</dt><dd>${runnerOf(status)}.</dd>`}
          ${missing.map((note) => html`<dt>What is missing</dt><dd>${note}</dd>`)}
          ${status.unaccepted !== undefined && html`<dt>Changed tools</dt><dd>${pinNoteOf(status)}</dd>`}
          <dt>What happens next</dt>
          <dd>${nextOf(inspection, now.value)}</dd>
          <dt>What you can do</dt>
          <dd>${problems.length === 0 ? adviceOf(status) : fixesOf(problems)}</dd>
        </dl>
      </div>
    <//>`;
}

function Timeline({ inspection }: { inspection: Inspection }): VNode {
  const isVerbose = useSignal(false);
  const isWhole = useSignal(false);
  const items = timelineOf(inspection, isVerbose.value);
  const shown = isWhole.value ? items : items.slice(0, SHORT);
  const toggle = html`<label class="check"><input type="checkbox" checked=${isVerbose.value}
    onChange=${() => (isVerbose.value = !isVerbose.value)} />every step</label>`;
  return html`
    <${Section} title="What happened" aside=${toggle}>
      <div class="card-body">
        ${items.length === 0 && html`<p class="muted">Nothing yet: it has not been called.</p>`}
        <ol class="timeline" aria-label="Journal, the newest first">
          ${shown.map(
            ({ at, text, tone, earlier }, index) => html`
              <li key=${`${at}${text}${index}`} class=${`${tone} ${earlier ? 'earlier' : ''}`}>
                <span class="when"><${Ago} at=${at} /></span><span class="what">${text}</span>
              </li>`,
          )}
        </ol>
        ${
          items.length > SHORT &&
          html`
          <button type="button" class="quiet small" onClick=${() => (isWhole.value = !isWhole.value)}>
            ${isWhole.value ? 'Show less' : `Show all ${items.length}`}</button>`
        }
      </div>
    <//>`;
}
