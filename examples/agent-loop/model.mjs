// Stands in for a language model, so that this example needs no network and says the same each time. A real one is given
// the same two things: what was said so far, and the tools that there are.
export function model(messages, tools) {
  const use = (name, args) => {
    if (!tools.some((tool) => tool.name === name)) throw new Error(`there is no tool ${name}`);
    return { name, arguments: args };
  };
  const results = messages.filter(({ role }) => role === 'tool');
  if (results.length === 0) {
    return {
      text: 'I need two things for that, and neither needs the other.',
      calls: [
        use('everything__get-sum', { a: 19, b: 23 }),
        use('memory__create_entities', {
          entities: [{ name: 'question', entityType: 'note', observations: ['a user asked for a sum'] }],
        }),
      ],
    };
  }
  if (results.length === 2) {
    return {
      text: 'Let me see whether I remember it.',
      calls: [use('memory__search_nodes', { query: 'question' })],
    };
  }
  const sum = results[0].text.match(/\d+\.?$/)?.[0].replace('.', '');
  return { text: `It is ${sum}, and I have made a note of it.`, calls: [] };
}
