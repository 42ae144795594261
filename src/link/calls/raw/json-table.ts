/**
 * The grammar of JSON as a table: the next state for each state and byte. Built once from readable rules; used for every
 * byte outside of strings. A byte without a rule is an error (`BROKEN`).
 *
 * The members of the outermost object have their own states (`TOP_…`), because their offsets are wanted. So have the keys
 * of the objects inside (`INNER_…`), because a result has `isError` there. Only space and tab are allowed between values:
 * a line break would end the line in which the value is passed on.
 */
export const BROKEN = 0;
export const START = 1;
export const TOP_KEY = 2;
export const IN_TOP_KEY = 3;
export const TOP_COLON = 4;
export const TOP_VALUE = 5;
export const VALUE = 6;
export const VALUE_OR_END = 7;
export const KEY = 8;
export const KEY_OR_END = 9;
const COLON = 10;
export const COMMA_OR_END = 11;
export const DONE = 12;
export const IN_STRING = 13;
const ESCAPED = 14;
const HEX = [15, 16, 17, 18] as const;
export const IN_KEY = 19;
const KEY_ESCAPED = 20;
const KEY_HEX = [21, 22, 23, 24] as const;
const TRUE = [25, 26, 27] as const;
const FALSE = [28, 29, 30, 31] as const;
const NULL = [32, 33, 34] as const;
const MINUS = 35;
const ZERO = 36;
const INTEGER = 37;
const POINT = 38;
const FRACTION = 39;
const EXPONENT = 40;
const SIGN = 41;
const EXPONENT_DIGITS = 42;
export const INNER_KEY = 43;
export const INNER_KEY_OR_END = 44;
/** Values from here on are actions, not states: the action returns the next state. */
export const OPEN_OBJECT = 64;
export const OPEN_ARRAY = 65;
export const CLOSE_OBJECT = 66;
export const CLOSE_ARRAY = 67;
export const COMMA = 68;
export const BEGIN_TOP_KEY = 69;
export const END_TOP_KEY = 70;
export const BEGIN_TOP_VALUE = 71;
export const BEGIN_INNER_KEY = 72;
export const FIRST_ACTION = OPEN_OBJECT;

/** Next state or action: `TABLE[(state << 8) | byte]`. */
export const TABLE = new Uint8Array(FIRST_ACTION << 8);

function on(state: number, bytes: string, next: number): void {
  for (const byte of bytes) TABLE[(state << 8) | byte.charCodeAt(0)] = next;
}

function onPlain(state: number, next: number): void {
  for (let byte = 0x20; byte <= 0xff; byte += 1) TABLE[(state << 8) | byte] = next;
}

const DIGITS = '0123456789';
const HEX_DIGITS = `${DIGITS}abcdefABCDEF`;

/** The rules of a string, with its own states; `next` is the state after it. */
function onString(inside: number, escaped: number, hex: readonly number[], next: number): void {
  onPlain(inside, inside);
  on(inside, '\\', escaped);
  on(inside, '"', next);
  on(escaped, '"\\/bfnrt', inside);
  on(escaped, 'u', hex[0]!);
  for (const [at, state] of hex.entries()) on(state, HEX_DIGITS, hex[at + 1] ?? inside);
}

function onWord(first: string, rest: string, states: readonly number[]): void {
  for (const state of [VALUE, VALUE_OR_END]) on(state, first, states[0]!);
  for (const [at, state] of states.entries()) on(state, rest[at]!, states[at + 1] ?? COMMA_OR_END);
}

for (const state of [START, TOP_KEY, TOP_COLON, TOP_VALUE, VALUE, VALUE_OR_END, COLON])
  on(state, ' \t', state);
for (const state of [KEY, KEY_OR_END, INNER_KEY, INNER_KEY_OR_END]) on(state, ' \t', state);
on(START, '{', OPEN_OBJECT);
on(TOP_KEY, '"', BEGIN_TOP_KEY);
// no escapes: a server that escapes a letter of `id` hides something
onPlain(IN_TOP_KEY, IN_TOP_KEY);
on(IN_TOP_KEY, '\\', BROKEN);
on(IN_TOP_KEY, '"', END_TOP_KEY);
on(TOP_COLON, ':', TOP_VALUE);
on(TOP_VALUE, `"{[-tfn${DIGITS}`, BEGIN_TOP_VALUE);
on(KEY, '"', IN_KEY);
on(KEY_OR_END, '"', IN_KEY);
on(KEY_OR_END, '}', CLOSE_OBJECT);
on(INNER_KEY, '"', BEGIN_INNER_KEY);
on(INNER_KEY_OR_END, '"', BEGIN_INNER_KEY);
on(INNER_KEY_OR_END, '}', CLOSE_OBJECT);
on(COLON, ':', VALUE);
for (const state of [VALUE, VALUE_OR_END]) {
  on(state, '"', IN_STRING);
  on(state, '{', OPEN_OBJECT);
  on(state, '[', OPEN_ARRAY);
  on(state, '-', MINUS);
  on(state, '0', ZERO);
  on(state, '123456789', INTEGER);
}
on(VALUE_OR_END, ']', CLOSE_ARRAY);
onWord('t', 'rue', TRUE);
onWord('f', 'alse', FALSE);
onWord('n', 'ull', NULL);
onString(IN_STRING, ESCAPED, HEX, COMMA_OR_END);
onString(IN_KEY, KEY_ESCAPED, KEY_HEX, COLON);
on(MINUS, '0', ZERO);
on(MINUS, '123456789', INTEGER);
on(INTEGER, DIGITS, INTEGER);
for (const state of [ZERO, INTEGER]) on(state, '.', POINT);
for (const state of [POINT, FRACTION]) on(state, DIGITS, FRACTION);
for (const state of [ZERO, INTEGER, FRACTION]) on(state, 'eE', EXPONENT);
on(EXPONENT, '+-', SIGN);
for (const state of [EXPONENT, SIGN, EXPONENT_DIGITS]) on(state, DIGITS, EXPONENT_DIGITS);
// a number ends at the first byte that is no part of it
for (const state of [COMMA_OR_END, ZERO, INTEGER, FRACTION, EXPONENT_DIGITS]) {
  on(state, ' \t', COMMA_OR_END);
  on(state, ',', COMMA);
  on(state, '}', CLOSE_OBJECT);
  on(state, ']', CLOSE_ARRAY);
}
// the line may end in a carriage return
on(DONE, ' \t\r', DONE);
