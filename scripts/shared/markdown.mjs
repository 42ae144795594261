// The parts of Markdown pages that code writes: tables, and regions between two marks.

/**
 * @param {readonly string[]} head
 * @param {readonly (readonly string[])[]} rows
 */
export function markdownTable(head, rows) {
  const line = (/** @type {readonly string[]} */ cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/**
 * The page with another text between `<!-- generated: NAME -->` and `<!-- end -->`.
 * @param {string} page
 * @param {string} name
 * @param {string} text
 */
export function replaceRegion(page, name, text) {
  const begin = `<!-- generated: ${name} -->\n`;
  const start = page.indexOf(begin);
  const end = page.indexOf('<!-- end -->', start);
  if (start === -1 || end === -1) throw new Error(`no region '${name}'`);
  const body = text === '' ? '' : `${text}\n\n`;
  return `${page.slice(0, start + begin.length)}\n${body}${page.slice(end)}`;
}
