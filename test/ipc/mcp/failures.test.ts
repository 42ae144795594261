import { expect, it } from 'vitest';
import { toFailedResult } from '../../../src/ipc/mcp/failures.js';
import { ServerCrashedError } from '../../../src/shared/call-errors.js';

it('A crash may be the last before quarantine, so its result does not promise a restart', () => {
  const { content } = toFailedResult(new ServerCrashedError('git: exited with code 1', { sent: true }));
  const [{ text }] = content as [{ text: string }];
  expect(text).not.toContain('is started again');
  expect(text).toContain('A new call waits for the restart, or is refused with the reason');
});
