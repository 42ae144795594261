// How well and how fast a search finds the tools of a set.
import { median, quantile } from '../numbers.mjs';
import { idOf } from './sets.mjs';

/**
 * @typedef {import('./sets.mjs').QuerySet} QuerySet
 * @typedef {import('./sets.mjs').SetTool} SetTool
 * @typedef {import('../../src/search/tool-index.js').ToolIndex<SetTool>} Index
 * @typedef {typeof import('../../src/search/tool-index.js') & typeof import('../../src/search/tool-document.js')
 *   & typeof import('../../src/search/signature.js')} Search
 */

/** @returns {Index} */
export function indexOf(/** @type {Search} */ { ToolIndex, toolDocument }, /** @type {SetTool[]} */ tools) {
  const index = new ToolIndex();
  for (const tool of tools) index.add(tool.server, tool, toolDocument(tool));
  return index;
}

/**
 * Recall: which part of the tools that answer a query is among the first. Hit: whether the first tool answers it. nDCG: how
 * near the order of the first ten is to the best order, with a gain of 2^grade - 1. All are averages over the queries.
 * @param {Index} index
 * @param {QuerySet} set
 */
export function quality(index, { tools, queries }) {
  const sums = { hitAt1: 0, recallAt1: 0, recallAt5: 0, recallAt10: 0, ndcgAt10: 0 };
  for (const { query, labels } of queries) {
    const grades = index.search(query, { limit: 10 }).map(({ item }) => labels.get(idOf(item)) ?? 0);
    const recall = (/** @type {number} */ first) =>
      grades.slice(0, first).filter((grade) => grade > 0).length / labels.size;
    const best = [...labels.values()].sort((a, b) => b - a).slice(0, 10);
    sums.hitAt1 += (grades[0] ?? 0) > 0 ? 1 : 0;
    sums.recallAt1 += recall(1);
    sums.recallAt5 += recall(5);
    sums.recallAt10 += recall(10);
    sums.ndcgAt10 += gain(grades) / gain(best);
  }
  const means = Object.entries(sums).map(([name, sum]) => [name, sum / queries.length]);
  return {
    tools: tools.length,
    queries: queries.length,
    .../** @type {typeof sums} */ (Object.fromEntries(means)),
  };
}

const gain = (/** @type {number[]} */ grades) =>
  grades.reduce((sum, grade, at) => sum + (2 ** grade - 1) / Math.log2(at + 2), 0);

/**
 * The time of one search among `count` tools: the tools of a set, again and again as other servers.
 * @param {Search} search
 * @param {QuerySet} set
 * @param {string[]} queries
 * @param {number} count
 */
export function speed(search, { tools }, queries, count) {
  const many = Array.from({ length: count }, (_, at) => {
    const tool = tools[at % tools.length];
    return { ...tool, server: `${tool.server}${Math.floor(at / tools.length)}` };
  });
  const begun = performance.now();
  const index = indexOf(search, many);
  const buildMs = performance.now() - begun;
  const [{ server }] = many;
  const replaced = many.filter((tool) => tool.server === server);
  const replaceBegun = performance.now();
  index.remove(server);
  for (const tool of replaced) index.add(server, tool, search.toolDocument(tool));
  const replaceMs = performance.now() - replaceBegun;
  // the median of ten rounds after two: a busy moment of the machine is not a property of a query
  const times = queries.map((query) => {
    const rounds = Array.from({ length: 12 }, () => {
      const start = performance.now();
      index.search(query, { limit: 10 });
      return performance.now() - start;
    });
    return median(rounds.slice(2));
  });
  return {
    count,
    queries: queries.length,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    slowest: Math.max(...times),
    buildMs,
    replaceMs,
    replaced: replaced.length,
  };
}

/** A model counts in tokens; one is about four characters of English or JSON. */
export const CHARACTERS_PER_TOKEN = 4;

/**
 * What the lists of the recorded servers cost, and what the answers to the queries cost.
 * @param {Search} search
 * @param {Index} index
 * @param {QuerySet} set
 * @param {{ characters: number }[]} servers
 */
export function cost({ signature, firstSentence }, index, { tools, queries }, servers) {
  const line = (/** @type {SetTool} */ { server, definition }) =>
    `${server}__${signature(definition)}: ${firstSentence(String(definition.description ?? ''))}`.length + 1;
  const answers = queries.map(({ query }) =>
    index.search(query, { limit: 10 }).reduce((sum, { item }) => sum + line(item), 0),
  );
  const characters = servers.reduce((sum, server) => sum + server.characters, 0);
  return {
    servers: servers.length,
    tools: tools.length,
    listTokens: characters / CHARACTERS_PER_TOKEN,
    answerTokens: quantile(answers, 0.5) / CHARACTERS_PER_TOKEN,
  };
}
