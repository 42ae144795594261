/** What the browser shows in the end. Nothing of the request is in it. */
function page(title: string, text: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>${text}</p></html>\n`;
}

export const PAGES = {
  granted: page('Authorised', 'toolherd may use the server now. You can close this page.'),
  failed: page('Not authorised', 'The terminal, or <code>toolherd auth</code>, tells why.'),
  wrong: page('Not accepted', 'This answer does not belong to an authorisation that toolherd waits for.'),
  unknown: page('Not found', 'There is nothing here.'),
} as const;
