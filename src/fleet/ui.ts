/** A link to the page of the daemon. The first browser that opens it gets the page, and no other one. */
export interface UiLink {
  url: string;
  /** ISO 8601. */
  expires_at: string;
}
