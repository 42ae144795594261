// A small agent: it offers the tools of the whole herd to a model, makes the calls that the model wants, all of one turn
// in parallel, and goes on until the model wants no more.
import { connect } from 'toolherd';
import { model } from './model.mjs';

const MOST_TURNS = 8;
const fleet = await connect();

try {
  const offered = await fleet.tools();
  // the names are unique in the herd, and every model takes them
  const tools = offered.map(({ exposed_name, description, input_schema }) => ({
    name: exposed_name,
    description,
    input_schema,
  }));
  const owners = new Map(offered.map((tool) => [tool.exposed_name, tool]));

  const question = 'How much is 19 and 23? Make a note that I asked.';
  const messages = [{ role: 'user', text: question }];
  console.log(`user: ${question}`);

  for (let turn = 0; turn < MOST_TURNS; turn += 1) {
    const { text, calls } = model(messages, tools);
    messages.push({ role: 'assistant', text, calls });
    console.log(`agent: ${text}`);
    if (calls.length === 0) break;
    const results = await fleet.callMany(
      calls.map(({ name, arguments: args }) => {
        const owner = owners.get(name);
        if (owner === undefined) throw new Error(`the model made up a tool: ${name}`);
        return { server: owner.server, tool: owner.name, arguments: args };
      }),
    );
    for (const [index, result] of results.entries()) {
      const said = result.success ? result.text() : `${result.error?.message} (${result.error?.fix})`;
      messages.push({ role: 'tool', name: calls[index].name, text: said });
      console.log(`  ${calls[index].name}: ${said.replaceAll(/\s+/g, ' ')}`);
    }
  }
} finally {
  await fleet.close();
}
