import type { CommandContext } from '../core/command.js';

/** Tells a running daemon to read the config again at once, because a file or what is allowed has changed. */
export async function notifyConfigChange(context: CommandContext): Promise<void> {
  try {
    // whichever config the daemon reads: a revoked file must end there too
    const fleet = await context.fleet({ autostart: false, viewMode: 'herd', anyConfig: true });
    await fleet.reload();
  } catch (error) {
    const { type, message } = error as { type?: string; message: string };
    if (type === 'DaemonNotRunningError') return;
    context.output.note(
      `warning: the daemon does not know of it yet: ${message}; fix that, then: toolherd reload`,
    );
  }
}
