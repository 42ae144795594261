// The measurements as Markdown, for the terminal and for docs/SEARCH.md.
import { markdownTable } from '../../scripts/shared/markdown.mjs';

/** @typedef {ReturnType<typeof import('./measure.mjs').quality>} Quality */

const share = (/** @type {number} */ value) => value.toFixed(3).replace(/^0/, '');
const ms = (/** @type {number} */ value) => `${value < 10 ? value.toFixed(2) : Math.round(value)} ms`;
const thousands = (/** @type {number} */ value) => Math.round(value).toLocaleString('en-GB');

export function qualityTable(/** @type {(Quality & { title: string })[]} */ measured) {
  return markdownTable(
    ['set', 'tools', 'queries', 'first tool answers', 'R@1', 'R@5', 'R@10', 'nDCG@10'],
    measured.map(({ title, tools, queries, hitAt1, recallAt1, recallAt5, recallAt10, ndcgAt10 }) => [
      title,
      String(tools),
      String(queries),
      ...[hitAt1, recallAt1, recallAt5, recallAt10, ndcgAt10].map(share),
    ]),
  );
}

export function speedTable(/** @type {ReturnType<typeof import('./measure.mjs').speed>[]} */ measured) {
  return markdownTable(
    ['tools', 'a search, p50', 'p99', 'slowest', 'index of all', 'one server anew'],
    measured.map(({ count, p50, p99, slowest, buildMs, replaceMs, replaced }) => [
      thousands(count),
      ms(p50),
      ms(p99),
      ms(slowest),
      ms(buildMs),
      `${ms(replaceMs)} (${replaced} tools)`,
    ]),
  );
}

export function costTable(/** @type {ReturnType<typeof import('./measure.mjs').cost>} */ measured) {
  const { servers, tools, listTokens, answerTokens } = measured;
  return markdownTable(
    ['what a model reads', 'tokens (characters / 4)'],
    [
      [`the full lists of ${servers} servers with ${tools} tools, before every task`, thousands(listTokens)],
      ['ten found tools: signature and first sentence, for each search (median)', thousands(answerTokens)],
    ],
  );
}
