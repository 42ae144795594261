/** What was measured, for those who asked (`npm run faults`). */
export function measured(text: string): void {
  if (process.env.TOOLHERD_LONG) console.log(text);
}

export const mebibytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;
