/** Which tools of a server may be seen and called: those that `allow` names, without those that `deny` names. */
export function toolFilter(tools: { allow: readonly string[]; deny: readonly string[] }): (name: string) => boolean {
  const allow = tools.allow.map(globPattern);
  const deny = tools.deny.map(globPattern);
  return (name) => allow.some((glob) => glob.test(name)) && !deny.some((glob) => glob.test(name));
}

/** `*` stands for any text, `?` for one character; everything else for itself. */
function globPattern(glob: string): RegExp {
  const pattern = glob.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*').replaceAll('?', '.');
  return new RegExp(`^${pattern}$`, 's');
}
