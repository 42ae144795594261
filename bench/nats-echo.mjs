// A service of NATS that answers each request on the subject `bench.echo` with what it got. Prints a line when it serves.
import { connect } from '@nats-io/transport-node';

const client = await connect({ servers: process.argv[2] });
client.subscribe('bench.echo', { callback: (_, message) => void message.respond(message.data) });
await client.flush();
console.log('serving');
