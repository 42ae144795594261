import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';

export interface Tab {
  id: string;
  title: ComponentChildren;
  content(): ComponentChildren;
}

export interface TabsProps {
  label: string;
  tabs: readonly Tab[];
  selected: string;
  onSelect(id: string): void;
}

/** Tabs as WAI-ARIA describes them: the arrow keys move, and one tab is in the order of Tab. */
export function Tabs({ label, tabs, selected, onSelect }: TabsProps): VNode {
  const shown = tabs.find(({ id }) => id === selected) ?? tabs[0]!;
  const onKey = (event: KeyboardEvent) => {
    const index = tabs.indexOf(shown);
    const to = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = tabs[(to + tabs.length) % tabs.length]!;
    onSelect(next.id);
    document.getElementById(`tab-${next.id}`)?.focus();
  };
  return html`
    <div class="tabs" role="tablist" aria-label=${label} onKeyDown=${onKey}>
      ${tabs.map(
        ({ id, title }) => html`
          <button type="button" role="tab" key=${id} id=${`tab-${id}`} aria-selected=${id === shown.id}
            aria-controls="tab-panel" tabindex=${id === shown.id ? 0 : -1} onClick=${() => onSelect(id)}>${title}</button>`,
      )}
    </div>
    <div class="tab-panel" role="tabpanel" id="tab-panel" key=${shown.id} aria-labelledby=${`tab-${shown.id}`}>
      ${shown.content()}
    </div>`;
}
