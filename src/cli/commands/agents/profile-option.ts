/** The option of bridge and attach. */
export const PROFILE_OPTION = {
  type: 'string',
  label: 'PROFILE',
  complete: 'profile',
  about: 'this part of the herd; see "toolherd profiles"',
} as const;
