/** A text that is written as a path: `./x`, `../x`, `.` or `..`. `x` alone may be a program or a package. */
export function isRelativePath(text: string): boolean {
  return /^\.{1,2}(\/|$)/.test(text);
}
