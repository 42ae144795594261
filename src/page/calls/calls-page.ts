import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { callMatcher } from '../../fleet/call-matcher.js';
import type { AuditPage, CallEvent, FleetEvent } from '../../fleet/fleet.js';
import { FleetError } from '../live/fleet-error.js';
import { appended } from '../live/ring.js';
import { followCalls, isLive, onEvents, request, status } from '../live/store.js';
import { useRequest } from '../live/use-request.js';
import { AsOf, Empty, ErrorBox, Loading, Page, Section } from '../parts/basics.js';
import { Button } from '../parts/button.js';
import { Glyph } from '../parts/glyph.js';
import { Choice, FilterBox } from '../parts/inputs.js';
import { go, href, route } from '../parts/route.js';
import { dateAndTime, plural } from '../text/format.js';
import { type CallFilter, joined, paramsOf, readFilter } from './call-filter.js';
import { CallsTable } from './calls-table.js';
import { FiguresTable } from './figures-table.js';

const PAGE_SIZE = 100;
const MOST_LIVE = 50;
/** Rows come and go together: more often they could not be read, and each has elements that the browser frees late. */
const LIVE_EVERY_MS = 1000;
/** A call that ended this long before the audit was read may be missing in its answer. */
const WRITTEN_MS = 1000;
const TYPING_MS = 250;

/** The audit: every call, with filters, and the tools that are slow or fail. */
export function CallsPage(): VNode {
  const filter = readFilter(route.value.query);
  const params = paramsOf(filter);
  const heard = useRef<readonly CallEvent[]>([]);
  // before the audit is read: a call that has just ended may not be written yet
  useEffect(() => {
    const endFollowing = followCalls();
    const endListening = onEvents((events) => {
      heard.current = appended(heard.current, callsIn(events), MOST_LIVE);
    });
    return () => {
      endListening();
      endFollowing();
    };
  }, []);
  const { fetched, error, refresh } = useRequest<AuditPage>('fleet/audit', { ...params, limit: PAGE_SIZE });
  const change = (next: Partial<CallFilter>, isReplacing = false) =>
    go(href('calls', [], { ...filter, ...next }), isReplacing);
  return html`
    <${Page} title="Calls" subtitle="Every request to a server: who called what, how long it took, how it ended. A call failed also if its tool reported an error. No values of arguments or results.">
      <${Filters} filter=${filter} change=${change} />
      ${error && html`<${ErrorBox} error=${error} title="The audit could not be read." />`}
      ${fetched === null && error === null && html`<${Loading} what="the audit" />`}
      ${
        fetched &&
        html`
        <div class="two">
          <${FiguresTable} title="Slowest tools" at=${fetched.at} rows=${fetched.value.slowest} change=${change} empty="No tool was called." />
          <${FiguresTable} title="Most failing tools" at=${fetched.at} rows=${fetched.value.failing} change=${change} empty="No tool failed." />
        </div>
        <${CallList} key=${JSON.stringify(params)} filter=${filter} first=${fetched} heard=${heard} refresh=${refresh} />`
      }
    <//>`;
}

interface FiltersProps {
  filter: CallFilter;
  change(next: Partial<CallFilter>, isReplacing?: boolean): void;
}

function Filters({ filter, change }: FiltersProps): VNode {
  const [text, setText] = useState(filter.text);
  useEffect(() => setText(filter.text), [filter.text]);
  useEffect(() => {
    if (text === filter.text) return;
    const timer = setTimeout(() => change({ text }, true), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const names = [...new Set(status.value?.value.servers.map(({ name }) => name))].sort();
  if (filter.server !== '' && !names.includes(filter.server)) names.unshift(filter.server);
  const servers = [['', 'all'], ...names.map((name) => [name, name])];
  const outcomes = [
    ['', 'all'],
    ['ok', 'ok'],
    ['failed', 'failed'],
  ];
  const chosen = (['tool', 'caller'] as const).filter((key) => filter[key] !== '');
  return html`
    <div class="filters" role="search" aria-label="Filter calls">
      <${FilterBox} label="Search calls" placeholder="Search tool, agent, error …" value=${text} onChange=${setText} />
      <${Choice} label="Server" value=${filter.server} choices=${servers} onChange=${(server: string) => change({ server })} />
      <${Choice} label="Outcome" value=${filter.outcome} choices=${outcomes}
        onChange=${(outcome: CallFilter['outcome']) => change({ outcome })} />
      ${chosen.map(
        (
          key,
        ) => html`<button type="button" class="small chip" key=${key} onClick=${() => change({ [key]: '' })}
          aria-label=${`Remove the filter ${key} ${filter[key]}`}>${key}: ${filter[key]} <${Glyph} shape="close" /></button>`,
      )}
    </div>`;
}

function callsIn(events: readonly FleetEvent[]): CallEvent[] {
  return events.filter((event): event is CallEvent => event.topic === 'call');
}

interface CallListProps {
  filter: CallFilter;
  first: { value: AuditPage; at: number };
  /** The last calls that were heard of before the audit was there. */
  heard: { readonly current: readonly CallEvent[] };
  refresh(): void;
}

/** The newest calls, live ones on top, and older ones page by page. */
function CallList({ filter, first, heard, refresh }: CallListProps): VNode {
  const older = useSignal<readonly CallEvent[]>([]);
  const next = useSignal(first.value.next);
  const error = useSignal<FleetError | null>(null);
  const live = useSignal<readonly CallEvent[]>([]);
  const isFollowing = useSignal(true);
  const missed = useSignal(0);
  const skipped = useSignal(0);

  useEffect(() => {
    const isWanted = callMatcher(paramsOf(filter));
    const isNew = ({ at }: CallEvent) => Date.parse(at) > first.at - WRITTEN_MS;
    let waiting: readonly CallEvent[] = heard.current.filter(isWanted).filter(isNew);
    let surplus = 0;
    let unseen = 0;
    const show = () => {
      const all = live.peek().length + waiting.length;
      skipped.value += surplus + Math.max(0, all - MOST_LIVE);
      missed.value += unseen;
      live.value = appended(live.peek(), waiting, MOST_LIVE);
      waiting = [];
      surplus = 0;
      unseen = 0;
    };
    const timer = setInterval(show, LIVE_EVERY_MS);
    const end = onEvents((events) => {
      const calls = callsIn(events).filter(isWanted);
      if (!isFollowing.peek()) {
        unseen += calls.length;
        return;
      }
      surplus += Math.max(0, waiting.length + calls.length - MOST_LIVE);
      waiting = appended(waiting, calls, MOST_LIVE);
    });
    return () => {
      clearInterval(timer);
      end();
    };
  }, []);
  useEffect(() => {
    // the audit has the older ones
    live.value = live.peek().filter(({ at }) => Date.parse(at) > first.at - WRITTEN_MS);
    skipped.value = 0;
    missed.value = 0;
    older.value = [];
    next.value = first.value.next;
  }, [first.at]);
  const follow = (isOn: boolean) => {
    isFollowing.value = isOn;
    if (isOn && missed.value > 0) refresh();
    missed.value = 0;
  };
  const fetchOlder = async () => {
    try {
      const params = { ...paramsOf(filter), limit: PAGE_SIZE, before: next.value };
      const answer = await request<AuditPage>('fleet/audit', params);
      older.value = [...older.value, ...answer.calls];
      next.value = answer.next;
      error.value = null;
    } catch (thrown) {
      error.value = FleetError.of(thrown);
    }
  };
  const calls = joined([...live.value].reverse(), [...first.value.calls, ...older.value]);
  const { searched } = first.value;
  return html`
    <${Section} title="Calls" class="call-list rows-as-cards" aside=${html`
        ${!isFollowing.value && missed.value > 0 && html`<span>${plural(missed.value, 'new call')}</span>`}
        ${isFollowing.value ? isLive.value && html`<span class="live good"><span class="dot" aria-hidden="true"></span>live</span>` : html`<${AsOf} at=${first.at} />`}
        <label class="choice"><input type="checkbox" checked=${isFollowing.value}
          onChange=${(event: Event) => follow((event.currentTarget as HTMLInputElement).checked)} />Follow</label>`}>
      ${
        skipped.value > 0 &&
        html`<p class="gap">Calls came faster than the list shows them: it leaves out ${plural(skipped.value, 'call')}.
          <${Button} size="small" onClick=${refresh}>Read the audit again<//></p>`
      }
      ${
        calls.length === 0
          ? html`<${Empty} title=${searched.records === 0 ? 'No call was made yet.' : 'No calls match.'}>The audit has ${plural(searched.records, 'record')}${
              searched.from && ` since ${dateAndTime(Date.parse(searched.from))}`
            }.<//>`
          : html`<${CallsTable} calls=${calls} />`
      }
      ${error.value && html`<${ErrorBox} error=${error.value} />`}
      <footer class="list-foot">
        <span class="muted">${plural(calls.length, 'call')} shown${searched.from && ` · searched back to ${dateAndTime(Date.parse(searched.from))}`}${
          searched.complete ? '' : ', not further'
        }</span>
        ${next.value && html`<${Button} size="small" onClick=${fetchOlder}>Show older calls<//>`}
      </footer>
    <//>`;
}
