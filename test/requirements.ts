/**
 * Everything that toolherd promises, by id. A test proves an id by citing it in its name; one test fails where an id is
 * cited by none.
 *
 * FR, SC, US: the specification's functional requirements, success criteria and acceptance scenarios.
 * P, S, U, C, X, L: the faults that must be survived (process, socket, upstream, config, security, load).
 * I: invariants of the state machines.
 */
const range = (prefix: string, from: number, to: number, width = 0) =>
  Array.from(
    { length: to - from + 1 },
    (_, index) => `${prefix}${String(from + index).padStart(width, '0')}`,
  );

const scenarios = (story: number, count: number) => range(`US${story}.`, 1, count);

export const ALL_IDS: readonly string[] = [
  ...range('FR-', 1, 28, 3),
  ...range('SC-', 1, 8, 3),
  ...scenarios(1, 3),
  ...scenarios(2, 4),
  ...scenarios(3, 5),
  ...scenarios(4, 4),
  ...scenarios(5, 4),
  ...scenarios(6, 3),
  ...scenarios(7, 2),
  ...scenarios(8, 2),
  ...range('P', 1, 15),
  ...range('S', 1, 10),
  ...range('U', 1, 8),
  ...range('C', 1, 4),
  ...range('X', 1, 3),
  ...range('L', 1, 4),
  ...range('I', 1, 10),
];
