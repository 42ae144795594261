// What scripts import: `connect` of toolherd's library.
import { pathToFileURL } from 'node:url';

export async function openLibrary({ module, path }) {
  const { connect } = await import(pathToFileURL(module).href);
  const fleet = await connect({ socket: path });
  return {
    async call(server, tool, args) {
      const { success, content, error } = await fleet.call(server, tool, args);
      if (!success) throw new Error(error.message);
      return content[0].text;
    },
    list: (server) => fleet.tools(server),
    close: () => fleet.close(),
  };
}
