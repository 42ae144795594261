/** What a server said when it did not let us in. */
export interface Challenge {
  /**
   * It asks for a token, as RFC 6750 and RFC 9728 have it: only a person can get one. A gateway or a firewall asks for
   * none, and may let us in a moment later.
   */
  asksForToken?: boolean;
  scope?: string | undefined;
  resourceMetadataUrl?: URL | undefined;
}

const TOKEN_CHALLENGE = /(^|,)\s*bearer\b|\bresource_metadata\s*=/i;

/** By the value of the header WWW-Authenticate. */
export function asksForToken(challenge: string | null | undefined): boolean {
  return TOKEN_CHALLENGE.test(challenge ?? '');
}

/** What a refusal says about the way in. Its body is not wanted. */
export async function challengeOf(response: Response): Promise<Challenge> {
  const { extractWWWAuthenticateParams } = await import('@modelcontextprotocol/client');
  const { scope, resourceMetadataUrl } = extractWWWAuthenticateParams(response);
  await response.body?.cancel();
  const isAsked = asksForToken(response.headers.get('www-authenticate'));
  return { asksForToken: isAsked, scope, resourceMetadataUrl };
}
