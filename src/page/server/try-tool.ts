import { signal, useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { ToolEntry, ToolResult } from '../../fleet/fleet.js';
import { elapsed } from '../../shared/text/elapsed.js';
import { shellWord } from '../../shared/text/shell-word.js';
import type { Progress } from '../live/connection.js';
import { FleetError } from '../live/fleet-error.js';
import { isLive, now, request } from '../live/store.js';
import { Ago, CopyButton, ErrorBox } from '../parts/basics.js';
import { type Draft, draftFrom, draftOf, parseJson, type Reading, read } from './form/draft.js';
import { type Field, formOf } from './form/fields.js';
import { FormFields } from './form/form.js';
import { Result } from './result.js';
import { type ResultView, viewResult } from './result-view.js';

/** What a person has typed for a tool. It stays while the page is open, also where another tool is looked at. */
interface Attempt {
  draft: Draft;
  /** The arguments as JSON; null: the form is used. */
  raw: string | null;
}

const attempts = signal<ReadonlyMap<string, Attempt>>(new Map());

function keep(key: string, attempt: Attempt): void {
  attempts.value = new Map([...attempts.value, [key, attempt]]);
}

interface Running {
  controller: AbortController;
  since: number;
  progress: Progress | null;
}

type Outcome = { view: ResultView; at: number } | { error: FleetError };

/** A form for a tool, and what it answered. */
export function TryTool({ tool }: { tool: ToolEntry }): VNode {
  const { server, name, input_schema } = tool;
  const form = useMemo(() => formOf(input_schema), [JSON.stringify(input_schema)]);
  const key = JSON.stringify([server, name]);
  const attempt = attempts.value.get(key) ?? beginningOf(form);
  const errors = useSignal<ReadonlyMap<string, string>>(new Map());
  const running = useSignal<Running | null>(null);
  const outcome = useSignal<Outcome | null>(null);
  const isMounted = useRef(true);
  const element = useRef<HTMLFormElement>(null);
  const focusOnError = useRef(false);
  useLayoutEffect(() => {
    if (!focusOnError.current) return;
    focusOnError.current = false;
    element.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  });
  useEffect(() => {
    isMounted.current = true;
    return () => {
      isMounted.current = false;
      // a call whose answer is not shown any more is not wanted any more
      running.peek()?.controller.abort();
    };
  }, []);
  const change = (next: Partial<Attempt>) => {
    keep(key, { ...attempt, ...next });
    if (errors.value.size > 0) errors.value = readAttempt(form, { ...attempt, ...next }).errors;
  };
  const run = async () => {
    const reading = readAttempt(form, attempt);
    errors.value = reading.errors;
    if (reading.errors.size > 0) {
      focusOnError.current = true;
      return;
    }
    const controller = new AbortController();
    running.value = { controller, since: Date.now(), progress: null };
    outcome.value = null;
    const params = { server, tool: name, arguments: reading.value };
    const onProgress = (progress: Progress) => {
      if (running.value?.controller === controller) running.value = { ...running.value, progress };
    };
    let ended: Outcome;
    try {
      const result = await request<ToolResult>('fleet/call', params, {
        signal: controller.signal,
        onProgress,
      });
      ended = { view: viewResult(result), at: Date.now() };
    } catch (thrown) {
      ended = { error: FleetError.of(thrown) };
    }
    if (!isMounted.current) return;
    outcome.value = ended;
    running.value = null;
  };
  /** Enter begins a new line in a text. */
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit(event);
  };
  const submit = (event: Event) => {
    event.preventDefault();
    if (running.value === null && isLive.value) void run();
  };
  return html`
    <form class="try" ref=${element} onKeyDown=${onKey} aria-label=${`Try ${name}`} onSubmit=${submit} novalidate>
      <${Arguments} form=${form} attempt=${attempt} errors=${errors.value} onChange=${change} />
      <div class="actions">
        <button type="submit" class="primary" title="Ctrl+Enter" disabled=${running.value !== null || !isLive.value}>Call ${name}</button>
        ${running.value && html`<button type="button" onClick=${() => running.value?.controller.abort()}>Cancel</button>`}
        <${CopyButton} text=${commandOf(tool, readAttempt(form, attempt))} label="Copy as a command" />
        ${
          errors.value.size > 0 &&
          html`<span class="field-error" role="alert">${
            errors.value.size === 1 ? 'One field is wrong.' : `${errors.value.size} fields are wrong.`
          }</span>`
        }
      </div>
    </form>
    ${running.value && html`<${ProgressView} running=${running.value} />`}
    <div aria-live="polite">${outcome.value && html`<${OutcomeView} outcome=${outcome.value} />`}</div>`;
}

function OutcomeView({ outcome }: { outcome: Outcome }): VNode {
  if ('view' in outcome)
    return html`<${Result} view=${outcome.view} at=${html`<${Ago} at=${outcome.at} />`} />`;
  const { error } = outcome;
  if (error.type === 'CancelledError')
    return html`<p class="result-head muted" role="status">You cancelled the call. The tool may have run.</p>`;
  return html`<${ErrorBox} error=${error} />`;
}

function beginningOf(form: Field): Attempt {
  return { draft: draftOf(form), raw: form.kind === 'group' ? null : '{}' };
}

function readAttempt(form: Field, { draft, raw }: Attempt): Reading {
  if (raw === null) return read(form, draft, '');
  const reading = parseJson(raw, '');
  const { value } = reading;
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return reading.errors.size > 0 || isObject
    ? reading
    : { errors: new Map([['', 'the arguments are a JSON object']]) };
}

interface ArgumentsProps {
  form: Field;
  attempt: Attempt;
  errors: ReadonlyMap<string, string>;
  onChange(next: Partial<Attempt>): void;
}

/** The arguments as a form or as JSON; each becomes the other where that is possible. */
function Arguments({ form, attempt, errors, onChange }: ArgumentsProps): VNode {
  const { draft, raw } = attempt;
  const problem = useSignal<string | null>(null);
  const toRaw = () => {
    problem.value = null;
    onChange({ raw: JSON.stringify(read(form, draft, '').value ?? {}, null, 2) });
  };
  const toForm = () => {
    const reading = readAttempt(form, attempt);
    const next = reading.errors.size > 0 ? undefined : draftFrom(form, reading.value);
    problem.value = next === undefined ? 'The form cannot show these arguments.' : null;
    if (next !== undefined) onChange({ raw: null, draft: next });
  };
  const isForm = raw === null;
  return html`
    <div class="try-head">
      <h3>Arguments</h3>
      ${
        form.kind === 'group' &&
        html`
        <span role="group" aria-label="How to write the arguments" class="switch">
          <button type="button" class="small" aria-pressed=${isForm} onClick=${() => !isForm && toForm()}>Form</button>
          <button type="button" class="small" aria-pressed=${!isForm} onClick=${() => isForm && toRaw()}>JSON</button>
        </span>`
      }
    </div>
    ${problem.value && html`<p class="field-error" role="alert">${problem.value}</p>`}
    ${
      isForm
        ? html`<${FormFields} field=${form} draft=${draft} path="" errors=${errors}
          onChange=${(next: Draft) => onChange({ draft: next })} />`
        : html`
        <textarea class="mono raw" rows="8" spellcheck="false" aria-label="Arguments as JSON" value=${raw}
          aria-invalid=${errors.has('')} onInput=${(event: Event) => onChange({ raw: (event.currentTarget as HTMLTextAreaElement).value })}></textarea>
        ${errors.has('') && html`<p class="field-error">${errors.get('')}</p>`}`
    }`;
}

function ProgressView({ running }: { running: Running }): VNode {
  const { progress, since } = running;
  const { progress: done, total, message } = progress ?? {};
  const passed = elapsed(now.value - since);
  const isMeasured = typeof done === 'number' && typeof total === 'number' && total > 0;
  const words = isMeasured
    ? `${done} of ${total}`
    : typeof done === 'number'
      ? `step ${done}`
      : 'waiting for the tool';
  return html`
    <div class="progress" role="status">
      ${
        isMeasured
          ? html`<progress value=${done} max=${total} aria-label="Progress of the call"></progress>`
          : html`<progress aria-label="Progress of the call"></progress>`
      }
      <p>${words}${typeof message === 'string' && message !== '' && html`: ${message}`} <span class="muted">for ${passed}</span></p>
    </div>`;
}

/** The same call in a terminal. */
function commandOf({ server, name }: ToolEntry, { value }: Reading): string {
  return `toolherd call ${shellWord(`${server}.${name}`)} --args ${shellWord(JSON.stringify(value ?? {}))}`;
}
