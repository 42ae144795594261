import type { ArgumentDeclaration, Command, OptionDeclaration } from './command.js';

/** `name SERVER [--wait] [-- COMMAND]`: what may follow `toolherd`. */
export function usageOf({ name, args, options, passthrough }: Command): string {
  const shown = (option: string | undefined) =>
    option !== undefined && options[option]?.hidden !== true ? `|--${option}` : '';
  const replaced = new Set(Object.values(args).map(({ unless }) => unless));
  return [
    name,
    ...Object.entries(args).map(([key, argument]) => {
      const word = `${argumentLabel(key, argument)}${argument.many ? '…' : ''}${shown(argument.unless)}`;
      return argument.optional ? `[${word}]` : word;
    }),
    ...visibleOptions(options).flatMap(([key, option]) =>
      replaced.has(key) ? [] : [`[${optionLabel(key, option)}]${'many' in option && option.many ? '…' : ''}`],
    ),
    ...(passthrough === undefined || passthrough.hidden ? [] : [`[-- ${passthrough.label}]`]),
  ].join(' ');
}

/** The fix of most usage errors. */
export function usageHint(command: Command): string {
  return `usage: toolherd ${usageOf(command)}`;
}

function argumentLabel(key: string, { label, choices }: ArgumentDeclaration): string {
  return label ?? choices?.join('|') ?? key.toUpperCase();
}

/** `--lines N` */
export function optionLabel(key: string, option: OptionDeclaration): string {
  if (option.type === 'boolean') return `--${key}`;
  const choices = 'choices' in option ? option.choices?.join('|') : undefined;
  const usual = { string: key.toUpperCase(), integer: 'N', duration: '30s' }[option.type];
  return `--${key} ${option.label ?? choices ?? usual}`;
}

export function visibleOptions<O extends OptionDeclaration>(
  options: Readonly<Record<string, O>>,
): [key: string, option: O][] {
  return Object.entries(options).filter(([, { hidden }]) => hidden !== true);
}
