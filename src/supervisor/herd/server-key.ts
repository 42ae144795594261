/**
 * The place of a server in the herd, by which its story, its log and its news are told apart from those of others. For
 * most that is its name; where several views have different servers of one name, those after the first get a number.
 * No name holds a control character.
 */
const MARK = '\u0000';

export function serverKey(name: string, number: number): string {
  return number === 0 ? name : `${name}${MARK}${number}`;
}

export function nameOfKey(key: string): string {
  return key.split(MARK, 1)[0]!;
}
