import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { LogEntry } from '../../fleet/fleet.js';
import { LOG_LEVELS, type LogLevel } from '../../shared/mcp/log-levels.js';
import { shellWord } from '../../shared/text/shell-word.js';
import { FleetError } from '../live/fleet-error.js';
import { epoch, followLog, isLive, onEvents, request } from '../live/store.js';
import { Empty, ErrorBox, Loading, Section } from '../parts/basics.js';
import { Choice, FilterBox } from '../parts/inputs.js';
import { clock, dateAndTime, plural } from '../text/format.js';
import { entryOfEvent, filterLines, LogBuffer, type LogKind, type LogLine } from './log-lines.js';
import { Slots } from './slots.js';

const KINDS: readonly (readonly [LogKind, string])[] = [
  ['output', 'stderr'],
  ['mcp', 'MCP messages'],
  ['toolherd', 'toolherd'],
];
const LEVELS = LOG_LEVELS.map((level) => [level, level === 'trace' ? 'all' : `${level} and above`] as const);
/** How many lines are in the page at once; a search looks at all that were read. */
const SHOWN = 500;
const READ = 1000;

/** The log of a server: what was written, and what is written now. */
export function Logs({ server }: { server: string }): VNode {
  const buffer = useRef(new LogBuffer());
  /** Null: not read yet. */
  const lines = useSignal<readonly LogLine[] | null>(null);
  const error = useSignal<FleetError | null>(null);
  const level = useSignal<LogLevel>('trace');
  const search = useSignal('');
  const kinds = useSignal<ReadonlySet<LogKind>>(new Set(KINDS.map(([kind]) => kind)));
  const isFollowing = useSignal(true);
  const connection = epoch.value;

  useEffect(() => {
    buffer.current = new LogBuffer();
    const { current } = buffer;
    let isOver = false;
    const endListening = onEvents((events) => {
      const added = events.flatMap((event) =>
        event.topic === 'log' && event.server === server ? [entryOfEvent(event)] : [],
      );
      if (added.length === 0) return;
      current.add(added);
      if (current.isRead) lines.value = current.lines;
    });
    const endFollowing = followLog(server);
    const read = async () => {
      try {
        const { entries } = await request<{ entries: LogEntry[] }>('fleet/logs', { server, tail: READ });
        if (isOver) return;
        current.fill(entries);
        lines.value = current.lines;
        error.value = null;
      } catch (thrown) {
        if (!isOver) error.value = FleetError.of(thrown);
      }
    };
    if (isLive.peek()) void read();
    return () => {
      isOver = true;
      endListening();
      endFollowing();
    };
  }, [server, connection]);

  const known = lines.value ?? [];
  const found = filterLines(known, { level: level.value, search: search.value, kinds: kinds.value });
  const shown = found.slice(-SHOWN);
  const toggle = (kind: LogKind) => {
    const next = new Set(kinds.value);
    if (!next.delete(kind)) next.add(kind);
    kinds.value = next;
  };
  const aside = html`
    <${FilterBox} label="Search the log" value=${search.value} onChange=${(text: string) => (search.value = text)} />
    <${Choice} label="Level" value=${level.value} choices=${LEVELS} onChange=${(value: LogLevel) => (level.value = value)} />
    <span role="group" aria-label="Sources" class="checks">
      ${KINDS.map(
        ([
          kind,
          title,
        ]) => html`<label class="check" key=${kind}><input type="checkbox" checked=${kinds.value.has(kind)}
          onChange=${() => toggle(kind)} />${title}</label>`,
      )}
    </span>
    <label class="check"><input type="checkbox" checked=${isFollowing.value}
      onChange=${() => (isFollowing.value = !isFollowing.value)} />follow</label>`;
  return html`
    <${Section} title="Log" aside=${aside}>
      ${error.value && html`<${ErrorBox} error=${error.value} />`}
      ${lines.value === null && error.value === null && html`<${Loading} what="the log" />`}
      ${lines.value?.length === 0 && error.value === null && html`<${Empty} title="Nothing was logged." />`}
      ${known.length > 0 && found.length === 0 && html`<${Empty} title="No line fits this filter." />`}
      ${
        shown.length > 0 &&
        html`<${LogView} lines=${shown} isFollowing=${isFollowing.value}
        onScrollUp=${() => (isFollowing.value = false)} />`
      }
      ${
        found.length > 0 &&
        html`
        <p class="log-foot muted">${plural(shown.length, 'line')} of ${found.length} that fit; ${known.length} were
          read. The whole log: <code>toolherd logs ${shellWord(server)}</code></p>`
      }
    <//>`;
}

interface LogViewProps {
  lines: readonly LogLine[];
  isFollowing: boolean;
  /** The reader looks at older lines: new ones do not move them away. */
  onScrollUp(): void;
}

function LogView({ lines, isFollowing, onScrollUp }: LogViewProps): VNode {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isFollowing && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [isFollowing, lines.at(-1)?.id, lines.length]);
  const slots = useRef(new Slots());
  const slotOf = slots.current.assign(lines);
  const onWheel = (event: WheelEvent) => {
    if (event.deltaY < 0 && isFollowing) onScrollUp();
  };
  return html`
    <div class="log" ref=${box} tabindex="0" role="log" aria-label="Lines of the log" aria-live="off" onWheel=${onWheel}>
      ${lines.map((line) => html`<${Line} key=${slotOf.get(line.id)} line=${line} />`)}
    </div>`;
}

/** A line is drawn once: a log that grows costs its new lines. */
function Line({ line }: { line: LogLine }): VNode {
  return useMemo(() => {
    const { time, level, kind, source, text } = line;
    const ms = Date.parse(time);
    return html`
      <div class=${`log-line ${level} from-${kind}`}>
        <time datetime=${time} title=${dateAndTime(ms)}>${clock(ms)}</time>
        <span class="log-level">${level}</span>
        <span class="log-source">${source ?? ''}</span>
        <span class="log-text">${text}</span>
      </div>`;
  }, [line]);
}
