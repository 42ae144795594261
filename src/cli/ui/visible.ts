/**
 * What a reader does not see and a model reads: controls, text that runs backwards, what has no width, tags that spell a
 * hidden sentence, fillers, and characters that nobody has defined.
 */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Every such character as its number: where somebody is asked whether a text is fine, nothing of it may be hidden. */
export function escapeInvisible(text: string): string {
  return text.replaceAll(UNSEEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}
