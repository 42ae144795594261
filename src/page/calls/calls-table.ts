import { type Signal, useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { CallEvent } from '../../fleet/fleet.js';
import { JsonView, Pill } from '../parts/basics.js';
import { Glyph } from '../parts/glyph.js';
import { href } from '../parts/route.js';
import { type Column, Table } from '../parts/table.js';
import { callerName } from '../text/caller.js';
import { clock, dateAndTime, memory, milliseconds } from '../text/format.js';
import { callKey } from './call-filter.js';

const DAY_MS = 86_400_000;

/** A row for each call; a click on its time shows all its fields. */
export function CallsTable({ calls }: { calls: readonly CallEvent[] }): VNode {
  const open = useSignal<ReadonlySet<string>>(new Set());
  const columns = useMemo(() => [timeColumn(open), ...COLUMNS], []);
  const below = (call: CallEvent) =>
    open.value.has(callKey(call))
      ? html`<${JsonView} value=${call} label="The record of this call" />`
      : undefined;
  return html`<${Table} caption="Calls" columns=${columns} rows=${calls} keyOf=${callKey} below=${below} />`;
}

type Opened = Signal<ReadonlySet<string>>;

function timeColumn(open: Opened): Column<CallEvent> {
  return {
    id: 'at',
    title: 'Ended',
    sort: ({ at }) => Date.parse(at),
    isNumber: true,
    cell: (call) => html`<${Disclosure} call=${call} open=${open} />`,
  };
}

function Disclosure({ call, open }: { call: CallEvent; open: Opened }): VNode {
  const key = callKey(call);
  const isOpen = open.value.has(key);
  const ms = Date.parse(call.at);
  const toggle = () => {
    const next = new Set(open.value);
    if (!next.delete(key)) next.add(key);
    open.value = next;
  };
  return html`<button type="button" class="quiet small disclose" aria-expanded=${isOpen} title=${dateAndTime(ms)}
    onClick=${toggle}><${Glyph} shape=${isOpen ? 'down' : 'right'} />${
      Date.now() - ms > DAY_MS ? dateAndTime(ms) : clock(ms)
    }</button>`;
}

const COLUMNS: readonly Column<CallEvent>[] = [
  {
    id: 'what',
    title: 'Call',
    isHeading: true,
    sort: ({ server, tool, method }) => `${server} ${tool ?? method}`,
    cell: ({ server, tool, method, called_as }) => html`<span class="call-name"><a
      href=${href('server', [server])}>${server || 'no server'}</a> <span class="mono">${tool ?? method}</span>${
        called_as && html` <span class="muted">as ${called_as}</span>`
      }</span>`,
  },
  {
    id: 'outcome',
    title: 'Outcome',
    sort: ({ ok, error }) => (ok ? '' : (error ?? '')),
    cell: ({ ok, error, sent }) =>
      ok
        ? html`<span class="ok-text good"><span class="dot" aria-hidden="true"></span>ok</span>`
        : html`<${Pill} tone="bad">${error ?? 'failed'}<//>${!sent && html` <span class="muted">not sent</span>`}`,
  },
  {
    id: 'duration',
    title: 'Took',
    isNumber: true,
    sort: ({ duration_ms }) => duration_ms,
    cell: ({ duration_ms }) => milliseconds(duration_ms),
  },
  {
    id: 'bytes',
    title: 'Reply',
    isNumber: true,
    isExtra: true,
    sort: ({ bytes }) => bytes,
    cell: ({ bytes }) => memory(bytes),
  },
  {
    id: 'caller',
    title: 'Caller',
    isExtra: true,
    sort: (call) => callerName(call),
    cell: (call) =>
      html`<a class="plain" href=${href('calls', [], { caller: call.caller ?? undefined })}>${callerName(call)}</a>`,
  },
];
