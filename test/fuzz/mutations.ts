import fc from 'fast-check';

/** Values that are of the wrong type nearly everywhere, or of the right one and odd. */
const ODD_VALUES = [
  ...[
    'null',
    'true',
    'false',
    '0',
    '-0',
    '-1',
    '1.5',
    '1e999',
    '1e300',
    '2147483648',
    '18446744073709551617',
  ],
  ...[
    '""',
    '" "',
    '"x"',
    '"1"',
    '"__proto__"',
    '"constructor"',
    '"\\ud800"',
    '"\\u0000"',
    '"\\u001b[2J"',
    '"ä€😀"',
  ],
  ...[
    '[]',
    '[null]',
    '[[]]',
    '["", 1]',
    '{}',
    '{"": null}',
    '{"__proto__": {"id": 1}}',
    '{"toJSON": 1, "then": 2}',
  ],
  `${'['.repeat(1200)}${']'.repeat(1200)}`,
  `"${'x'.repeat(20_000)}"`,
];
const ODD_KEYS = [
  '__proto__',
  'constructor',
  'id',
  'method',
  'params',
  'result',
  'error',
  'jsonrpc',
  '',
  'i\\u0064',
  '_meta',
];
const TOKENS = [
  ...'{}[],:"\\\'0-.e \t\0\x7f',
  ...[
    '\r',
    '\n',
    '\r\n',
    '\\u',
    '\\ud800',
    'ä',
    '😀',
    '\ufeff',
    '\u2028',
    'null',
    '//',
    '"id":1,',
    '"id":',
    ',"id":2',
  ],
];
const BAD_BYTES = ['80', 'ff', 'c0af', 'eda080', 'e282', 'f09f98', 'fffe', '00', '1b5b324a'].map((hex) =>
  Buffer.from(hex, 'hex'),
);

type Change = (bytes: Buffer, others: readonly Buffer[]) => Buffer;

const place = fc.nat();
const splice = (bytes: Buffer, at: number, drop: number, insert: Buffer) =>
  Buffer.concat([bytes.subarray(0, at), insert, bytes.subarray(at + drop)]);

/** One change of the kind that a broken or a clever program makes. */
const change: fc.Arbitrary<Change> = fc.oneof(
  // of bytes: truncated, removed, inserted, doubled, taken from another message
  place.map(
    (at): Change =>
      (bytes) =>
        bytes.subarray(0, at % (bytes.length + 1)),
  ),
  place.map(
    (at): Change =>
      (bytes) =>
        bytes.subarray(at % (bytes.length + 1)),
  ),
  fc.tuple(place, fc.integer({ min: 1, max: 8 })).map(
    ([at, drop]): Change =>
      (bytes) =>
        splice(bytes, at % (bytes.length + 1), drop, Buffer.alloc(0)),
  ),
  fc.tuple(place, fc.constantFrom(...TOKENS)).map(
    ([at, token]): Change =>
      (bytes) =>
        splice(bytes, at % (bytes.length + 1), 0, Buffer.from(token)),
  ),
  fc
    .tuple(
      place,
      fc.oneof(
        fc.constantFrom(...BAD_BYTES),
        fc.uint8Array({ maxLength: 6 }).map((raw) => Buffer.from(raw)),
      ),
    )
    .map(
      ([at, raw]): Change =>
        (bytes) =>
          splice(bytes, at % (bytes.length + 1), 0, raw),
    ),
  fc.tuple(place, fc.nat(60)).map(
    ([at, size]): Change =>
      (bytes) => {
        const from = at % (bytes.length + 1);
        return splice(bytes, from, 0, bytes.subarray(from, from + size));
      },
  ),
  fc.tuple(place, place, place, fc.nat(80)).map(
    ([which, from, at, size]): Change =>
      (bytes, others) => {
        const other = others[which % Math.max(1, others.length)] ?? bytes;
        const start = from % (other.length + 1);
        return splice(bytes, at % (bytes.length + 1), 0, other.subarray(start, start + size));
      },
  ),
  // of JSON: another value, another key, a key twice
  ...[3, 3].map(() =>
    fc.tuple(place, fc.constantFrom(...ODD_VALUES)).map(
      ([at, odd]): Change =>
        (bytes) =>
          inJson(bytes, at, () => odd),
    ),
  ),
  fc.tuple(place, fc.constantFrom(...ODD_VALUES)).map(
    ([at, odd]): Change =>
      (bytes) => {
        return matched(
          bytes,
          /"(?:[^"\\]|\\.)*"(?=\s*[,}\]])|-?\d[\d.eE+-]*|true|false|null/g,
          at,
          () => odd,
        );
      },
  ),
  fc.tuple(place, fc.constantFrom(...ODD_KEYS)).map(
    ([at, key]): Change =>
      (bytes) => {
        return matched(bytes, /"(?:[^"\\]|\\.)*"(?=\s*:)/g, at, () => `"${key}"`);
      },
  ),
  fc.tuple(place, fc.constantFrom(...ODD_KEYS), fc.constantFrom(...ODD_VALUES)).map(
    ([at, key, odd]): Change =>
      (bytes) => {
        return matched(bytes, /"(?:[^"\\]|\\.)*"(?=\s*:)/g, at, (own) => `"${key}":${odd},${own}`);
      },
  ),
);

/** One of these, with one to three changes. */
export function mutated(bases: readonly (string | Buffer)[], atLeast = 1): fc.Arbitrary<Buffer> {
  const all = bases.map((base) => Buffer.from(base as string));
  return fc
    .tuple(fc.nat(all.length - 1), fc.array(change, { minLength: atLeast, maxLength: 3 }))
    .map(([which, changes]) =>
      legible(changes.reduce<Buffer>((bytes, make) => make(bytes, all), all[which]!)),
    );
}

/** Shown as text where a property fails, instead of as numbers. */
export function legible(bytes: Buffer): Buffer {
  return Object.assign(Buffer.from(bytes), {
    [fc.toStringMethod]: () => JSON.stringify(bytes.toString('latin1')),
  });
}

/** The same bytes in pieces. */
export function cutInto(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((start, at) => bytes.subarray(start, places[at] ?? bytes.length));
}

function matched(bytes: Buffer, pattern: RegExp, which: number, replace: (own: string) => string): Buffer {
  const text = bytes.toString('latin1');
  const all = [...text.matchAll(pattern)];
  const one = all[which % Math.max(1, all.length)];
  if (one === undefined) return bytes;
  return splice(bytes, one.index, one[0].length, Buffer.from(replace(one[0])));
}

/** Puts something else in the place of one value, however much that was. What is no JSON stays as it is. */
function inJson(bytes: Buffer, which: number, replace: () => string): Buffer {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString());
  } catch {
    return bytes;
  }
  let places = 0;
  const walk = (one: unknown, visit: (at: number) => boolean): unknown => {
    places += 1;
    if (visit(places - 1)) return PLACE;
    if (Array.isArray(one)) return one.map((item) => walk(item, visit));
    if (typeof one !== 'object' || one === null) return one;
    return Object.fromEntries(Object.entries(one).map(([key, item]) => [key, walk(item, visit)]));
  };
  try {
    walk(value, () => false);
    const target = which % places;
    places = 0;
    return Buffer.from(
      JSON.stringify(walk(value, (at) => at === target)).replace(JSON.stringify(PLACE), replace),
    );
  } catch {
    // too deep to be walked
    return bytes;
  }
}

const PLACE = '@here@';
