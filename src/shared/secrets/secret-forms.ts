/** A longer text is a file rather than a token, and servers do not log files in another encoding. */
const LONGEST_ENCODED = 8192;
/** All encodings leave a text of these characters as it is, except base64 and hex. */
const PLAIN = /^[\w.-]*$/;

/** The forms of a secret that are always known: as it is, in JSON, in a url. */
export function commonForms(text: string): string[] {
  if (PLAIN.test(text)) return [text];
  return [text, inJson(text), encodeURIComponent(toWellFormed(text))];
}

/** The forms in which programs log a secret, besides the common ones. */
export function encodedForms(text: string): string[] {
  if (text.length > LONGEST_ENCODED) return [];
  const bytes = Buffer.from(text);
  const hex = bytes.toString('hex');
  const binary = [hex, hex.toUpperCase(), ...base64Forms(bytes)];
  if (PLAIN.test(text)) return binary;
  return [...binary, ...urlForms(text), ...jsonForms(text), ...htmlForms(text)];
}

/**
 * The part of the base64 of any text around these bytes that depends on them alone, for the three places where they can
 * begin in a group of three. So `Basic base64(user:secret)` is found without the user's name.
 */
function base64Forms(bytes: Buffer): string[] {
  const forms = [0, 1, 2].map((shift) => {
    const shifted = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    const first = Math.ceil((shift * 8) / 6);
    return shifted.slice(first, Math.floor(((shift + bytes.length) * 8) / 6));
  });
  return [...forms, ...forms.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))];
}

function urlForms(text: string): string[] {
  const wellFormed = toWellFormed(text);
  const form = new URLSearchParams([['', wellFormed]]).toString().slice(1);
  const lower = (encoded: string) => encoded.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
  return [lower(encodeURIComponent(wellFormed)), form, lower(form)];
}

/** JSON as JavaScript, PHP (`\/`, `\u00e9`), Python (`\u00e9`) and Go (`\u0026`) write it, and JSON in JSON. */
function jsonForms(text: string): string[] {
  const json = inJson(text);
  const slashed = json.replaceAll('/', '\\/');
  const ascii = [json, slashed].map((form) => escapedBy(/[\u0080-\uffff]/g, form));
  const markup = escapedBy(/[<>&\u2028\u2029]/g, json);
  const all = [slashed, ...ascii, markup, escapedBy(/[\u0080-\uffff]/g, markup)];
  const upper = all.map((form) =>
    form.replaceAll(/\\u[0-9a-f]{4}/g, (code) => `\\u${code.slice(2).toUpperCase()}`),
  );
  return [...all, ...upper, inJson(json)];
}

function htmlForms(text: string): string[] {
  const base = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const quoted = ['&quot;', '&#34;'].map((quote) => base.replaceAll('"', quote));
  return [
    base,
    ...quoted,
    ...quoted.flatMap((form) => ['&#39;', '&#x27;'].map((q) => form.replaceAll("'", q))),
  ];
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function escapedBy(characters: RegExp, text: string): string {
  return text.replaceAll(characters, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** encodeURIComponent throws on a lone surrogate. */
function toWellFormed(text: string): string {
  return text.replaceAll(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, '\uFFFD');
}
