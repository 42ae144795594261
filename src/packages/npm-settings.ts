/** The variables that npm reads as its settings, with their names as npm spells them. */
export function npmSettings(env: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(env).flatMap(([name, value]): [string, string][] => {
    const spelled = name.toLowerCase().replaceAll('-', '_');
    return spelled.startsWith('npm_config_') && value !== '' ? [[spelled, value]] : [];
  });
}
