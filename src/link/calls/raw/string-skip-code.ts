/**
 * A WebAssembly function, written instruction by instruction: it is short, and an assembler would be a dependency of the
 * build. Each line is a line of its listing.
 *
 *   skip(at, end): the position of the first byte in [at, end) that is a quote, below 0x20, or a backslash that begins no
 *   valid escape or is too near to the end to check; `end` where there is none.
 */
export interface SkipCode {
  memory: { readonly buffer: ArrayBuffer };
  skip(at: number, end: number): number;
}

/** By byte: whether it has a meaning in a string. */
export const SPECIAL_AT = 0;
/** By the byte after a backslash: the length of the escape; 0: no escape. */
export const ESCAPES_AT = 256;
/** By byte: whether it is a hexadecimal digit. */
export const HEX_AT = 512;
export const WINDOW_AT = 65_536;
const PAGES = 2;

const [AT, END, FOUND, QUOTES, SLASHES, SPACES, BYTES] = [0, 1, 2, 3, 4, 5, 6];
const [I32, V128, NOTHING] = [0x7f, 0x7b, 0x40];

const get = (local: number) => [0x20, local];
const set = (local: number) => [0x21, local];
const tee = (local: number) => [0x22, local];
const i32 = (value: number) => [0x41, ...signed(value)];
const loadByte = (offset: number) => [0x2d, 0, ...unsigned(offset)];
const branch = (depth: number) => [0x0c, depth];
const loop = [0x03, NOTHING];
const when = [0x04, NOTHING];
const otherwise = [0x05];
const end = [0x0b];
const giveAt = [...get(AT), 0x0f];
const [isZero, isEqual, isLess, isAtMost, trailingZeros, plus, and] = [
  ...[[0x45], [0x46], [0x49], [0x4d], [0x68], [0x6a], [0x71]],
] as const;
const advance = [...plus, ...set(AT)];
const wide = (operation: number, ...operands: number[]) => [0xfd, operation, ...operands];
const load16 = wide(0x00, 0, 0);
const each = wide(0x0f);
const eachEqual = wide(0x23);
const eachLess = wide(0x26);
const either = wide(0x50);
const bits = wide(0x64);

const isHex = (offset: number) => [...get(AT), ...loadByte(offset), ...loadByte(HEX_AT)];

const BODY = [
  ...[...i32(0x22), ...each, ...set(QUOTES)],
  ...[...i32(0x5c), ...each, ...set(SLASHES)],
  ...[...i32(0x20), ...each, ...set(SPACES)],
  ...loop,
  /**/ ...loop,
  /*  */ ...[...get(AT), ...i32(16), ...plus, ...get(END), ...isAtMost, ...when],
  /*    */ ...[...get(AT), ...load16, ...tee(BYTES), ...get(QUOTES), ...eachEqual],
  /*    */ ...[...get(BYTES), ...get(SLASHES), ...eachEqual, ...either],
  /*    */ ...[...get(BYTES), ...get(SPACES), ...eachLess, ...either],
  /*    */ ...[...bits, ...tee(FOUND), ...isZero, ...when],
  /*      */ ...[...get(AT), ...i32(16), ...advance, ...branch(2)],
  /*    */ ...end,
  /*    */ ...[...get(AT), ...get(FOUND), ...trailingZeros, ...advance],
  /*  */ ...otherwise,
  /*    */ ...loop,
  /*      */ ...[...get(AT), ...get(END), ...isLess, ...when],
  /*        */ ...[...get(AT), ...loadByte(0), ...loadByte(SPECIAL_AT), ...isZero, ...when],
  /*          */ ...[...get(AT), ...i32(1), ...advance, ...branch(2)],
  /*        */ ...end,
  /*      */ ...end,
  /*    */ ...end,
  /*  */ ...end,
  /**/ ...end,
  // the longest escape has six bytes
  /**/ ...[...get(AT), ...i32(6), ...plus, ...get(END), ...isAtMost, ...when],
  /*  */ ...[...get(AT), ...loadByte(0), ...i32(0x5c), ...isEqual, ...when],
  /*    */ ...[...get(AT), ...loadByte(1), ...loadByte(ESCAPES_AT), ...tee(FOUND), ...isZero],
  /*    */ ...[...when, ...giveAt, ...end],
  /*    */ ...[...get(FOUND), ...i32(6), ...isEqual, ...when],
  /*      */ ...[...isHex(2), ...isHex(3), ...and, ...isHex(4), ...and, ...isHex(5), ...and, ...isZero],
  /*      */ ...[...when, ...giveAt, ...end],
  /*    */ ...end,
  /*    */ ...[...get(AT), ...get(FOUND), ...advance, ...branch(2)],
  /*  */ ...end,
  /**/ ...end,
  ...end,
  ...get(AT),
  ...end,
];

const section = (id: number, ...content: number[]) => [id, ...unsigned(content.length), ...content];
const named = (name: string, kind: number) => [name.length, ...Buffer.from(name), kind, 0];
/** The locals after the two parameters: one number, and four vectors of sixteen bytes. */
const FUNCTION = [2, 1, I32, 4, V128, ...BODY];

const MODULE = Uint8Array.from([
  ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
  ...section(1, 1, 0x60, 2, I32, I32, 1, I32),
  ...section(3, 1, 0),
  ...section(5, 1, 1, PAGES, PAGES),
  ...section(7, 2, ...named('skip', 0), ...named('memory', 2)),
  ...section(10, 1, ...unsigned(FUNCTION.length), ...FUNCTION),
]);

/** The part of WebAssembly that is used: the project's type libraries do not declare it. */
interface Assembly {
  Module: new (code: Uint8Array) => object;
  Instance: new (module: object) => { readonly exports: object };
}

export function assembleSkip(): SkipCode {
  const { Module, Instance } = (globalThis as unknown as { WebAssembly: Assembly }).WebAssembly;
  return new Instance(new Module(MODULE)).exports as SkipCode;
}

/** Numbers as WebAssembly writes them: seven bits a byte, the lowest first. */
function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >> 7)];
}

function signed(value: number): number[] {
  return value < 0x40 ? [value] : [(value & 0x7f) | 0x80, ...signed(value >> 7)];
}
