/** A colour or font of tokens.css, for what is drawn on a canvas. */
export function token(name: `--${string}`): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Calls `listen` when the colours change: by the switch of the page, or by the system. */
export function onThemeChange(listen: () => void): () => void {
  const observer = new MutationObserver(listen);
  observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  const system = matchMedia('(prefers-color-scheme: dark)');
  system.addEventListener('change', listen);
  return () => {
    observer.disconnect();
    system.removeEventListener('change', listen);
  };
}
