import { signal } from '@preact/signals';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Inspection, JournalEntry } from '../../fleet/fleet.js';
import { type ChartDrawing, type DrawnEdge, drawnEdge, drawnState } from '../../machines/chart-drawing.js';
import { Ago } from '../parts/basics.js';
import { lastStep } from './timeline.js';

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
  return html`
    <div class="charts">
      <${Chart} name=${isTransient ? 'Transient server' : 'Keeper'} about="whether it should run: restarts, backoff, quarantine"
        drawing=${upper} present=${snapshot.keeper} last=${lastStep(journal, 'keeper')} />
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

function Chart({ name, about, drawing, present, last }: ChartProps): VNode {
  const lit = drawnState(drawing, present);
  const around = drawing.states.find(({ id }) => id === lit?.parent);
  const taken = last === undefined ? undefined : drawnEdge(drawing, last);
  const { width, height } = drawing;
  const id = `tip-${name.replaceAll(/\W/g, '')}`;
  const edge = (one: DrawnEdge, isTaken: boolean) => html`
    <g class=${`edge ${isTaken ? 'taken' : ''}`}>
      <path d=${one.path} marker-end=${`url(#${id}${isTaken ? '-taken' : ''})`} />
      ${one.label.split('\n').map(
        (line, index, lines) => html`
          <text x=${one.labelAt.x} y=${one.labelAt.y + (index - (lines.length - 1) / 2) * 14}>${line}</text>`,
      )}
    </g>`;
  const others = drawing.edges.filter((one) => one !== taken);
  return html`
    <figure class="chart">
      <figcaption>
        <strong>${name}</strong> <span class="muted">${about}</span>
        <p>is in <code class="lit">${present || 'no state'}</code>${
          last !== undefined &&
          html`,
          since <${Ago} at=${last.at} />, by <code>${last.event}</code>: ${last.cause}`
        }</p>
      </figcaption>
      <div class="chart-scroll" tabindex="0" role="region" aria-label=${`Statechart of the ${name.toLowerCase()}`}>
        <svg viewBox="0 0 ${width} ${height}" width=${width} height=${height} role="img"
          aria-label=${`The ${name.toLowerCase()} is in the state ${present || 'none'}`}>
          <defs>
            ${['', '-taken'].map(
              (
                kind,
              ) => html`<marker id=${`${id}${kind}`} class=${`tip${kind}`} viewBox="0 0 8 8" refX="8" refY="4"
                markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 8 4 0 8z" /></marker>`,
            )}
          </defs>
          ${drawing.states.map(
            (state) => html`
              <g class=${`state ${state.id === lit?.id ? 'lit' : ''} ${state.id === around?.id ? 'around' : ''} ${
                drawing.states.some(({ parent }) => parent === state.id) ? 'outer' : ''
              }`}>
                <rect x=${state.x} y=${state.y} width=${state.width} height=${state.height} rx="8" />
                <text x=${state.labelAt.x} y=${state.labelAt.y}>${state.label}</text>
              </g>`,
          )}
          ${others.map((one) => edge(one, false))}
          ${taken && edge(taken, true)}
        </svg>
      </div>
    </figure>`;
}
