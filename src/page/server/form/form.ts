import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { useId } from 'preact/hooks';
import { Glyph } from '../../parts/glyph.js';
import { type Draft, draftOf, EMPTY, pathTo } from './draft.js';
import { type Field, type ListField, labelOf, type NumberField, type TextField } from './fields.js';

export interface FieldProps<F extends Field = Field> {
  field: F;
  draft: Draft;
  path: string;
  /** By path. */
  errors: ReadonlyMap<string, string>;
  onChange(draft: Draft): void;
}

const typedIn = (event: Event): string => (event.currentTarget as HTMLInputElement).value;

/** All fields of a form. */
export function FormFields({ field, ...props }: FieldProps): VNode {
  if (field.kind !== 'group') return html`<${FieldView} field=${field} ...${props} />`;
  if (field.fields.length === 0) return html`<p class="muted">It takes no arguments.</p>`;
  return html`<div class="fields"><${GroupBody} field=${field} ...${props} /></div>`;
}

function GroupBody({ field, draft, path, errors, onChange }: FieldProps): VNode[] {
  if (field.kind !== 'group') return [];
  return field.fields.map((one) => {
    const inner = Object.hasOwn(draft.fields, one.name) ? draft.fields[one.name]! : EMPTY;
    const change = (changed: Draft) =>
      onChange({
        ...draft,
        fields: Object.fromEntries([...Object.entries(draft.fields), [one.name, changed]]),
      });
    return html`<${FieldView} key=${one.name} field=${one} draft=${inner} path=${pathTo(path, one.name)} errors=${errors}
      onChange=${change} />`;
  });
}

function FieldView(props: FieldProps): VNode {
  switch (props.field.kind) {
    case 'group':
    case 'list':
    case 'variants':
      return html`<${Fieldset} ...${props} />`;
    default:
      return html`<${Row} ...${props} />`;
  }
}

/** A field with its label, its description and what is wrong with it. */
function Row(props: FieldProps): VNode {
  const { field, draft, path, errors, onChange } = props;
  const id = useId();
  const error = errors.get(path);
  const hints = [field.description, ...rulesOf(field)].filter(Boolean);
  const describedBy = [hints.length > 0 ? `${id}-hint` : '', error === undefined ? '' : `${id}-error`];
  const attributes = {
    id,
    'aria-describedby': describedBy.filter(Boolean).join(' ') || undefined,
    'aria-invalid': error !== undefined,
    'aria-required': field.required,
    disabled: draft.isNull,
  };
  return html`
    <div class="field">
      <label for=${id}>${field.title || path}<${Marks} field=${field} /></label>
      <div class="field-input">
        <${Input} ...${props} attributes=${attributes} />
        ${field.nullable && html`<${NullSwitch} draft=${draft} onChange=${onChange} name=${field.title || path} />`}
      </div>
      ${hints.length > 0 && html`<p class="hint" id=${`${id}-hint`}>${hints.join(' · ')}</p>`}
      ${error !== undefined && html`<p class="field-error" id=${`${id}-error`}>${error}</p>`}
    </div>`;
}

function Marks({ field }: { field: Field }): VNode | null {
  return field.required ? html`<span class="mark-required"> required</span>` : null;
}

function NullSwitch({
  draft,
  onChange,
  name,
}: {
  draft: Draft;
  onChange(draft: Draft): void;
  name: string;
}): VNode {
  return html`<label class="null-switch"><input type="checkbox" checked=${draft.isNull} aria-label=${`${name} is null`}
    onChange=${() => onChange({ ...draft, isNull: !draft.isNull })} />null</label>`;
}

function Input({ field, draft, onChange, attributes }: FieldProps & { attributes: object }): VNode {
  const change = (event: Event) => onChange({ ...draft, text: typedIn(event) });
  const placeholder = Object.hasOwn(field, 'default') ? `default: ${labelOf(field.default)}` : undefined;
  switch (field.kind) {
    case 'choice':
      return html`
        <select ...${attributes} onChange=${(event: Event) => onChange({ ...draft, chosen: Number(typedIn(event)) })}>
          <option value="-1" selected=${draft.chosen === -1}>${placeholder ?? (field.required ? 'choose …' : 'not given')}</option>
          ${field.options.map(
            ({ label }, index) =>
              html`<option value=${index} selected=${draft.chosen === index}>${label}</option>`,
          )}
        </select>`;
    case 'number':
      return html`<input ...${attributes} type="text" inputmode=${field.integer ? 'numeric' : 'decimal'} autocomplete="off"
        placeholder=${placeholder} value=${draft.text} onInput=${change} />`;
    case 'json':
      return html`<textarea ...${attributes} class="mono" rows="4" spellcheck="false" placeholder=${placeholder ?? 'JSON'}
        value=${draft.text} onInput=${change}></textarea>`;
    default:
      return html`<textarea ...${attributes} rows=${rowsOf(draft.text)} spellcheck="false" placeholder=${placeholder}
        value=${draft.text} onInput=${change}></textarea>`;
  }
}

/** A text may have several lines; it grows with them. */
function rowsOf(text: string): number {
  return Math.min(12, text.split('\n').length);
}

/** What the schema asks for, in words. */
function rulesOf(field: Field): string[] {
  switch (field.kind) {
    case 'text':
      return textRules(field);
    case 'number':
      return numberRules(field);
    case 'json':
      return [`as JSON: ${field.reason}`];
    default:
      return [];
  }
}

function textRules({ format, minLength, maxLength, pattern }: TextField): string[] {
  return [
    format ?? '',
    minLength === null || minLength < 2 ? '' : `at least ${minLength} characters`,
    maxLength === null ? '' : `at most ${maxLength} characters`,
    pattern === null ? '' : `pattern ${pattern}`,
  ];
}

function numberRules({ integer, minimum, maximum, above, below, multipleOf }: NumberField): string[] {
  return [
    integer ? 'whole number' : '',
    minimum === null ? '' : `at least ${minimum}`,
    above === null ? '' : `more than ${above}`,
    // the largest integer that JSON carries safely is no rule of the tool
    maximum === null || maximum >= Number.MAX_SAFE_INTEGER ? '' : `at most ${maximum}`,
    below === null ? '' : `less than ${below}`,
    multipleOf === null || (integer && multipleOf === 1) ? '' : `a multiple of ${multipleOf}`,
  ];
}

/** Fields that belong together: an object, a list, or one of several variants. */
function Fieldset(props: FieldProps): VNode {
  const { field, draft, path, errors, onChange } = props;
  const error = errors.get(path);
  const name = field.title || path;
  return html`
    <fieldset class="group">
      <legend>${name}<${Marks} field=${field} /></legend>
      ${field.description && html`<p class="hint">${field.description}</p>`}
      ${field.nullable && html`<${NullSwitch} draft=${draft} onChange=${onChange} name=${name} />`}
      ${!draft.isNull && bodyOf(props)}
      ${error !== undefined && html`<p class="field-error" role="alert">${error}</p>`}
    </fieldset>`;
}

function bodyOf(props: FieldProps): ComponentChildren {
  const { field, draft, path, errors, onChange } = props;
  if (field.kind === 'group') return html`<${GroupBody} ...${props} />`;
  if (field.kind === 'list') return html`<${ListBody} ...${props as FieldProps<ListField>} />`;
  if (field.kind !== 'variants') return null;
  const variant = field.variants[draft.chosen];
  const choose = (event: Event) => {
    const chosen = Number(typedIn(event));
    const next = field.variants[chosen];
    onChange({ ...draft, chosen, inner: next === undefined ? null : draftOf(next.field) });
  };
  return html`
    <select aria-label=${`Variant of ${field.title || path}`} onChange=${choose}>
      <option value="-1" selected=${draft.chosen === -1}>${field.required ? 'choose …' : 'not given'}</option>
      ${field.variants.map(
        ({ label }, index) =>
          html`<option value=${index} selected=${draft.chosen === index}>${label}</option>`,
      )}
    </select>
    ${
      variant &&
      html`
      <${FormFields} key=${draft.chosen} field=${{ ...variant.field, title: variant.field.title || 'value' }}
        draft=${draft.inner ?? EMPTY} path=${path} errors=${errors}
        onChange=${(inner: Draft) => onChange({ ...draft, inner })} />`
    }`;
}

function ListBody({ field, draft, path, errors, onChange }: FieldProps<ListField>): VNode {
  const { items } = draft;
  const name = field.title || path;
  const replace = (index: number, item: Draft) =>
    onChange({ ...draft, items: items.map((old, at) => (at === index ? item : old)) });
  const remove = (index: number) => onChange({ ...draft, items: items.filter((_, at) => at !== index) });
  return html`
    <ol class="items">
      ${items.map(
        (item, index) => html`
          <li key=${index}>
            <${FormFields} field=${{ ...field.item, title: field.item.title || `${name} ${index + 1}` }} draft=${item}
              path=${`${path}[${index}]`} errors=${errors} onChange=${(changed: Draft) => replace(index, changed)} />
            <button type="button" class="quiet small" aria-label=${`Remove ${name} ${index + 1}`}
              onClick=${() => remove(index)}><${Glyph} shape="close" /></button>
          </li>`,
      )}
    </ol>
    <button type="button" class="small" aria-label=${`Add an item to ${name}`}
      onClick=${() => onChange({ ...draft, items: [...items, draftOf(field.item)] })}>Add an item</button>`;
}
