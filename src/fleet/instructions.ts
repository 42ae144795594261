export interface InstructionsParams {
  /** Of this server alone, as they are. */
  server?: string | undefined;
  /** Of the herd: a section a server, or a line. */
  form: 'sections' | 'lines';
}
