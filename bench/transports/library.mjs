// What scripts import: `connect` of toolherd's library.
import { pathToFileURL } from 'node:url';

export async function openLibrary(/** @type {{ module: string, path: string }} */ { module, path }) {
  const { connect } = await import(pathToFileURL(module).href);
  const fleet = await connect({ socket: path });
  return {
    async call(
      /** @type {string} */ server,
      /** @type {string} */ tool,
      /** @type {Bench.Arguments} */ args,
    ) {
      const { success, content, error } = await fleet.call(server, tool, args);
      if (!success) throw new Error(error.message);
      return content[0].text;
    },
    list: (/** @type {string} */ server) => fleet.tools(server),
    close: () => fleet.close(),
  };
}
