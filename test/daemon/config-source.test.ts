import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { rereadHerdConfig } from '../../src/daemon/config-source.js';
import { findPaths } from '../../src/shared/files/paths.js';
import { makeFolder } from '../support/folder.js';

const config = (names: readonly string[]) =>
  `version: "1.0"\nmcp_servers:\n${names
    .map((name) => `  - {name: ${name}, description: x, server: x, command: npx}\n`)
    .join('')}`;

it('C1: a config that is written while it is read is read again', async () => {
  const folder = makeFolder({ 'config.yaml': config(['a', 'b']) });
  const file = join(folder, 'config.yaml');
  const environment = { TOOLHERD_HOME: folder };
  const paths = findPaths(environment, folder);
  const reading = rereadHerdConfig({ file, isRequired: true, paths, environment, userHome: folder });
  // the reading has begun, and has looked at what was there
  writeFileSync(file, config(['a', 'b', 'c']));
  expect((await reading).servers.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
});
