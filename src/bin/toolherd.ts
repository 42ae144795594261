import './no-inspector.js';
import { compareVersions } from '../shared/text/compare-versions.js';
import { NODE_NEEDED } from '../shared/version.js';
import { loadBundle } from './load-bundle.js';

// an older Node would fail somewhere in the bundle, at a function that it does not have
if (compareVersions(process.version, NODE_NEEDED) < 0) {
  process.stderr.write(
    `error: toolherd needs Node >= ${NODE_NEEDED}, this is ${process.version} (${process.execPath})\n  fix: install a newer Node, or put one first in PATH\n`,
  );
  process.exitCode = 1;
} else {
  // this file only loads the command's bundle, so that the bundle comes with its machine code
  loadBundle('command');
}
