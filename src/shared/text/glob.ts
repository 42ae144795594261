/** Whether one of these globs matches a name. */
export function nameFilter(globs: readonly string[]): (name: string) => boolean {
  const patterns = globs.map(characters);
  return (name) => {
    const text = characters(name);
    return patterns.some((pattern) => matches(pattern, text));
  };
}

/** A character may have two code units. */
const characters = (text: string): readonly string[] => [...text];

/**
 * `*` stands for any text, `?` for one character; everything else for itself. By hand and not by a regular expression:
 * names come from the server, and one of a million letters must not keep the daemon busy.
 */
function matches(glob: readonly string[], text: readonly string[]): boolean {
  let star = -1;
  let resumeAt = 0;
  let place = 0;
  for (let at = 0; at < text.length; ) {
    if (glob[place] === '*') {
      star = place;
      place += 1;
      resumeAt = at;
    } else if (place < glob.length && (glob[place] === '?' || glob[place] === text[at])) {
      place += 1;
      at += 1;
    } else if (star !== -1) {
      // the last star takes one character more
      place = star + 1;
      resumeAt += 1;
      at = resumeAt;
    } else return false;
  }
  return glob.slice(place).every((character) => character === '*');
}
