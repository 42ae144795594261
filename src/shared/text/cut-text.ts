/** The first characters of a text. Does not split a surrogate pair: clients in other languages refuse JSON with half of one. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  const isHalf = length > 0 && last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, isHalf ? length - 1 : length);
}

/** Where the character begins that has this code unit: one before it for the second half of a surrogate pair. */
export function characterStart(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return at > 0 && code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}
