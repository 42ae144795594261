import { html } from 'htm/preact';
import type { VNode } from 'preact';

export interface FilterBoxProps {
  label: string;
  value: string;
  onChange(value: string): void;
  placeholder?: string;
}

export function FilterBox({ label, value, onChange, placeholder }: FilterBoxProps): VNode {
  return html`
    <input type="search" class="filter" aria-label=${label} placeholder=${placeholder ?? label} value=${value}
      spellcheck="false" autocomplete="off"
      onInput=${(event: Event) => onChange((event.currentTarget as HTMLInputElement).value)} />`;
}

export interface ChoiceProps<Value extends string> {
  label: string;
  value: Value;
  /** Value and text of each. */
  choices: readonly (readonly [Value, string])[];
  onChange(value: Value): void;
}

export function Choice<Value extends string>({ label, value, choices, onChange }: ChoiceProps<Value>): VNode {
  return html`
    <label class="choice"><span>${label}</span>
      <select value=${value}
        onChange=${(event: Event) => onChange((event.currentTarget as HTMLSelectElement).value as Value)}>
        ${choices.map(([id, text]) => html`<option value=${id} selected=${id === value}>${text}</option>`)}
      </select>
    </label>`;
}
