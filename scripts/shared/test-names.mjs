// The names of the tests in a file, and the requirements that they cite (docs/spec/requirements.md).
const TEST_NAME =
  /\b(?:it|test|describe)(?:\.each\([\s\S]*?\)|\.concurrent)?\(\s*(['"`])((?:\\.|(?!\1)[\s\S])*)\1/g;
const REQUIREMENT = /\b(?:FR-\d{3}|SC-\d{3}|US\d\.\d|[PSUCXLI]\d{1,2})\b/g;

/** @param {string} source of a test file */
export const testNames = (source) => [...source.matchAll(TEST_NAME)].map(([, , name = '']) => name);

/** @param {string} text */
export const requirementsIn = (text) => [...new Set(text.match(REQUIREMENT) ?? [])];
