import { signal, useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useId, useMemo, useRef } from 'preact/hooks';
import type { Inspection, JournalEntry } from '../../fleet/fleet.js';
import {
  type ChartDrawing,
  type DrawnEdge,
  type DrawnState,
  drawnEdge,
  drawnState,
} from '../../machines/chart-drawing.js';
import { Ago } from '../parts/basics.js';
import { keeperState, lastStep } from './timeline.js';

type Charts = Record<'server' | 'keeper' | 'transient', ChartDrawing>;

/** The drawings are the same for as long as the page is open. */
const charts = signal<Charts | null>(null);
let isAsked = false;

async function load(): Promise<void> {
  if (isAsked) return;
  isAsked = true;
  try {
    const answer = await fetch('charts.json');
    if (answer.ok) charts.value = (await answer.json()) as Charts;
  } catch {
    isAsked = false;
  }
}

/** Both statecharts of a server: where they are, and how they came there. */
export function Charts({ inspection }: { inspection: Inspection }): VNode | null {
  useEffect(() => void load(), []);
  if (charts.value === null) return null;
  const { snapshot, journal, status } = inspection;
  const isTransient = status.lifecycle === 'transient';
  const upper = isTransient ? charts.value.transient : charts.value.keeper;
  const present = keeperState(inspection);
  // the journal may not know yet where the chart of a transient server is
  const isUpperShown = !isTransient || drawnState(upper, present) !== undefined;
  return html`
    <div class="charts">
      ${
        isUpperShown &&
        html`<${Chart} name=${isTransient ? 'Transient server' : 'Keeper'} about="whether it should run: restarts, backoff, quarantine"
        drawing=${upper} present=${present} last=${lastStep(journal, 'keeper')} />`
      }
      <${Chart} name="Server" about=${`one run of it, number ${status.incarnation}`} drawing=${charts.value.server}
        present=${snapshot.server} last=${lastStep(journal, 'server')} />
    </div>`;
}

interface ChartProps {
  name: string;
  about: string;
  drawing: ChartDrawing;
  present: string;
  last: JournalEntry | undefined;
}

/** Near the present state, where labels can be read. */
const NEAR = 0.85;

function Chart({ name, about, drawing, present, last }: ChartProps): VNode {
  const isWhole = useSignal(false);
  const lit = drawnState(drawing, present);
  const taken = last === undefined ? undefined : drawnEdge(drawing, last);
  const word = name.toLowerCase();
  // the same picture is not drawn again with every answer of the daemon
  const picture = useMemo(
    () => html`<${Drawing} drawing=${drawing} lit=${lit} taken=${taken} scale=${isWhole.value ? 1 : NEAR}
      label=${`The ${word} is in the state ${present || 'none'}`} />`,
    [drawing, lit, taken, isWhole.value, present],
  );
  return html`
    <figure class=${`chart ${isWhole.value ? 'whole' : ''}`}>
      <figcaption>
        <button type="button" class="small chart-button" aria-pressed=${isWhole.value} aria-label=${`Whole chart of the ${word}`}
          onClick=${() => (isWhole.value = !isWhole.value)}>Whole chart</button>
        <p><strong>${name}</strong> <span class="muted">${about}</span></p>
        <p><code class="lit">${present || 'no state'}</code>${
          last !== undefined &&
          html`<span> for <${Ago} at=${last.at} isBare />, by <code>${
            last.event
          }</code>: ${last.cause}</span>`
        }</p>
      </figcaption>
      <${Scroll} key=${isWhole.value} label=${`Statechart of the ${word}`} lit=${isWhole.value ? undefined : lit}>${picture}<//>
    </figure>`;
}

/** Keeps the lit state in the middle. */
function Scroll({
  label,
  lit,
  children,
}: {
  label: string;
  lit: DrawnState | undefined;
  children?: ComponentChildren;
}): VNode {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { current } = box;
    if (current === null || lit === undefined) return;
    const left = (lit.x + lit.width / 2) * NEAR - current.clientWidth / 2;
    const top = (lit.y + lit.height / 2) * NEAR - current.clientHeight / 2;
    current.scrollTo({ left, top });
  }, [lit?.id]);
  return html`<div class="chart-scroll" ref=${box} tabindex="0" role="region" aria-label=${label}>${children}</div>`;
}

interface DrawingProps {
  drawing: ChartDrawing;
  lit: DrawnState | undefined;
  taken: DrawnEdge | undefined;
  scale: number;
  label: string;
}

function Drawing({ drawing, lit, taken, scale, label }: DrawingProps): VNode {
  const { width, height, states, edges } = drawing;
  const id = useId();
  const outer = new Set(states.map(({ parent }) => parent));
  const classOf = (state: DrawnState) => [
    'state',
    state === lit && 'lit',
    state.id === lit?.parent && 'around',
    outer.has(state.id) && 'outer',
  ];
  const edge = (one: DrawnEdge) => {
    const kind = one === taken ? '-taken' : '';
    return html`
      <g key=${`${one.from}>${one.to}`} class=${one === taken ? 'edge taken' : 'edge'}>
        <path d=${one.path} marker-end=${`url(#${id}${kind})`} />
        ${one.label.split('\n').map(
          (line, index, lines) => html`
            <text x=${one.labelAt.x} y=${one.labelAt.y + (index - (lines.length - 1) / 2) * 14}>${line}</text>`,
        )}
      </g>`;
  };
  return html`
    <svg viewBox="0 0 ${width} ${height}" width=${width * scale} height=${height * scale} role="img" aria-label=${label}>
      <defs>
        ${['', '-taken'].map(
          (
            kind,
          ) => html`<marker id=${`${id}${kind}`} class=${`tip${kind}`} viewBox="0 0 8 8" refX="8" refY="4"
            markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 8 4 0 8z" /></marker>`,
        )}
      </defs>
      ${states.map(
        (state) => html`
          <g class=${classOf(state).filter(Boolean).join(' ')}>
            <rect x=${state.x} y=${state.y} width=${state.width} height=${state.height} rx="8" />
            <text x=${state.labelAt.x} y=${state.labelAt.y}>${state.label}</text>
          </g>`,
      )}
      ${edges.filter((one) => one !== taken).map(edge)}
      ${taken && edge(taken)}
    </svg>`;
}
