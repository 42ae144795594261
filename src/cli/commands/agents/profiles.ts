import type { ProfileReport } from '../../../fleet/fleet.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { defineCommand } from '../../core/command.js';
import { table } from '../../ui/table.js';
import { singleLine } from '../../ui/text.js';
import { showStartProgress } from '../tools/progress.js';

export const command = defineCommand({
  name: 'profiles',
  summary: 'Shows the profiles of the config: what each offers, and what it costs.',
  details: `A profile is a named part of the herd: some servers and tools, perhaps under
other names. An agent chooses it with "toolherd bridge --profile NAME".
TOKENS estimates what the definitions of its tools cost a model that lists them.
LISTS is what its agents list: all tools, or in search mode four that find and
call the others; with "auto" it follows from TOKENS. A profile's "surface" comes
before daemon.surface, and --surface of "toolherd bridge" before both.
Notes name parts of a profile that fit no tool.
A server that has never run is started.`,
  examples: [
    'toolherd profiles',
    "toolherd profiles --json | jq '.profiles[] | {name, tokens}'",
    ['toolherd attach cursor --profile review', 'an agent that sees this profile'],
  ],
  exits: { ok: 'ok, also when there are none' },
  async run(context) {
    const { output } = context;
    const fleet = await context.fleet();
    const profiles = await showStartProgress(context, fleet, undefined, fleet.profiles());
    output.json({ profiles });
    if (profiles.length === 0) {
      output.print('no profiles');
      output.note("add them under 'profiles' in the config; see docs/PROFILES.md");
      return EXIT.ok;
    }
    const rows = profiles.map((profile) => [
      profile.name,
      profile.servers.map(singleLine).join(', ') || '-',
      String(profile.tools.length),
      String(profile.tokens),
      listsOf(profile.surface),
      singleLine(profile.description ?? ''),
    ]);
    output.print(
      table(['PROFILE', 'SERVERS', 'TOOLS', 'TOKENS', 'LISTS', 'DESCRIPTION'], rows, output.columns),
    );
    for (const profile of profiles) for (const doubt of doubtsOf(profile)) output.note(singleLine(doubt));
    return EXIT.ok;
  },
});

/** A daemon of an earlier version does not say it. */
function listsOf(surface: ProfileReport['surface'] | undefined): string {
  if (surface === undefined) return '-';
  return surface.mode === 'auto' ? `${surface.lists} (auto)` : surface.lists;
}

function doubtsOf({ name, unmatched, missing }: ProfileReport): string[] {
  // while a list is missing, its tools may be those that nothing fits
  const unfit = missing.length > 0 ? [] : unmatched.map((part) => `${name}: '${part}' fits no tool`);
  return [...unfit, ...missing.map(({ server, reason }) => `${name}: missing: ${server}: ${reason}`)];
}
